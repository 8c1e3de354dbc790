import { screen } from "@testing-library/react";
import type { Session } from "@supabase/supabase-js";
import { Route, Routes, useLocation } from "react-router";
import { expect, it } from "vitest";
import { AdminGuard } from "@/features/admin-shell/components/admin-guard";
import type { Auth } from "@/lib/auth";
import { renderApp } from "@/test/render";

const session = { user: { id: "1" } } as Session;

function Where() {
  const { pathname, state } = useLocation();
  return <p>{`${pathname} ${JSON.stringify(state)}`}</p>;
}

function show(auth: Partial<Auth>) {
  renderApp(
    <Routes>
      <Route path="/admin" element={<AdminGuard />}>
        <Route path="products" element={<p>Secret</p>} />
      </Route>
      <Route path="*" element={<Where />} />
    </Routes>,
    { path: "/admin/products?edit=7", auth },
  );
}

it("waits without showing anything private while session or role are unknown", () => {
  show({ loading: true, session, user: session.user });
  expect(screen.getByRole("status")).toHaveTextContent("One moment…");
  expect(screen.queryByText("Secret")).not.toBeInTheDocument();
});

it("lets the owner in", () => {
  show({ session, user: session.user, role: "admin" });
  expect(screen.getByText("Secret")).toBeVisible();
});

it("sends a signed-in visitor home", () => {
  show({ session, user: session.user, role: null });
  expect(screen.getByText("/ null")).toBeVisible();
});

it("sends a session that owes a second factor to that step, with the deep link", () => {
  const awaitedFactors = [{ id: "f", type: "totp" as const, name: "", phone: "" }];
  show({ session, user: session.user, role: "admin", awaitedFactors });
  expect(screen.getByText('/admin/auth {"from":"/admin/products?edit=7"}')).toBeVisible();
});

it("sends others to the sign-in page and remembers the deep link", () => {
  show({});
  expect(screen.getByText('/admin/auth {"from":"/admin/products?edit=7"}')).toBeVisible();
});
