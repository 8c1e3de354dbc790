import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { BrowserRouter } from "react-router";
import { App } from "@/app/app";
import { parseBoot } from "@/lib/boot";
import { makeQueryClient } from "@/lib/query-client";
import "@/styles/index.css";

const root = document.getElementById("root");
if (!root) throw new Error("The page has no root element");
const boot = parseBoot(document.getElementById("boot")?.textContent);

createRoot(root).render(
  <StrictMode>
    <BrowserRouter>
      <App boot={boot} queryClient={makeQueryClient()} />
    </BrowserRouter>
  </StrictMode>,
);
