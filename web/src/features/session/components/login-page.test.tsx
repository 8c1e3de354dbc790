import { useState } from "react";
import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { Session } from "@supabase/supabase-js";
import { Route, Routes, useLocation } from "react-router";
import { describe, expect, it, vi } from "vitest";
import { LoginPage } from "@/features/session/components/login-page";
import { AuthContextProvider, type Auth } from "@/lib/auth";
import { renderApp, visitorAuth } from "@/test/render";

const session = { user: { id: "1" } } as Session;

function CurrentPath() {
  return <p>{`at ${useLocation().pathname}`}</p>;
}

function renderPage(auth: Partial<Auth>, path = "/admin/auth") {
  renderApp(
    <Routes>
      <Route path="/admin/auth" element={<LoginPage />} />
      <Route path="*" element={<CurrentPath />} />
    </Routes>,
    { path, auth },
  );
}

describe("sign in", () => {
  it("S2-route-6: requires both fields before it sends a request", async () => {
    const user = userEvent.setup();
    const signIn = vi.fn(async () => ({}));
    renderPage({ signIn });
    await user.click(screen.getByRole("button", { name: "Sign in" }));
    expect(await screen.findByText("Please enter your email")).toBeVisible();
    expect(screen.getByText("Please enter your password")).toBeVisible();
    expect(screen.getByLabelText("Email")).toHaveFocus();
    expect(signIn).not.toHaveBeenCalled();
  });

  it("A-log-alert: shows the server's message and keeps the form", async () => {
    const user = userEvent.setup();
    const signIn = vi.fn(async () => ({
      error: { code: "a_new_one", message: "The service's own words" },
    }));
    renderPage({ signIn });
    await user.type(screen.getByLabelText("Email"), " ola@alvor.example ");
    await user.type(screen.getByLabelText("Password"), "wrong");
    await user.keyboard("{Enter}");
    expect(signIn).toHaveBeenCalledWith("ola@alvor.example", "wrong");
    expect(await screen.findByRole("alert")).toHaveTextContent(
      "Could not sign inThe service's own words",
    );
    expect(screen.getByLabelText("Password")).toHaveValue("wrong");
  });

  it("redirects the owner to the dashboard", () => {
    renderPage({ session, user: session.user, role: "admin" });
    expect(screen.getByText("at /admin")).toBeVisible();
  });

  it("redirects an account without the role to the home page", () => {
    renderPage({ session, user: session.user, role: null });
    expect(screen.getByText("at /")).toBeVisible();
  });

  it("keeps the form while the role is fetched", () => {
    renderPage({ session, user: session.user, loading: true });
    expect(screen.getByRole("heading", { name: "Sign in" })).toBeVisible();
  });
});

describe("set-up link", () => {
  async function fill(setUp: Auth["setUp"], password = "quatro andorinhas") {
    const user = userEvent.setup();
    renderPage({ setUp }, "/admin/auth?setup=token-1");
    expect(screen.getByRole("heading", { name: "Set up your account" })).toBeVisible();
    await user.type(screen.getByLabelText("Email"), "ola@alvor.example");
    await user.type(screen.getByLabelText("New password"), password);
    await user.click(screen.getByRole("button", { name: "Save and sign in" }));
  }

  it("sends token, email and password", async () => {
    const setUp = vi.fn(async () => ({}));
    await fill(setUp);
    expect(setUp).toHaveBeenCalledWith("token-1", "ola@alvor.example", "quatro andorinhas");
  });

  it.each([
    ["admin", "/admin/guide"],
    [null, "/"],
  ] as const)("redirects to the first steps, with the role %s", async (role, place) => {
    const user = userEvent.setup();
    function Site() {
      const [auth, setAuth] = useState<Auth>(visitorAuth);
      const setUp = async () => {
        setAuth({ ...visitorAuth, session, user: session.user, role });
        return {};
      };
      return (
        <AuthContextProvider value={{ ...auth, setUp }}>
          <Routes>
            <Route path="/admin/auth" element={<LoginPage />} />
            <Route path="*" element={<CurrentPath />} />
          </Routes>
        </AuthContextProvider>
      );
    }
    renderApp(<Site />, { path: "/admin/auth?setup=token-1" });
    await user.type(screen.getByLabelText("Email"), "ola@alvor.example");
    await user.type(screen.getByLabelText("New password"), "quatro andorinhas");
    await user.click(screen.getByRole("button", { name: "Save and sign in" }));
    expect(await screen.findByText(`at ${place}`)).toBeInTheDocument();
  });

  it("shows the reasons for a weak password at the field", async () => {
    const message = "Password should be at least 12 characters. Password is known to be weak.";
    await fill(async () => ({
      error: { code: "weak_password", message, reasons: ["length", "pwned"] },
    }));
    expect(await screen.findByText(/Use at least 12 characters\. This password/)).toBeVisible();
    expect(screen.getByLabelText("New password")).toBeInvalid();
  });

  it("offers the sign-in page when the link has expired", async () => {
    await fill(async () => ({ error: { code: "setup_link_invalid", message: "gone" } }));
    expect(await screen.findByRole("alert")).toHaveTextContent("expired or was already used");
    await userEvent.click(screen.getByRole("link", { name: "Sign in instead" }));
    expect(screen.getByRole("heading", { name: "Sign in" })).toBeVisible();
  });
});

it("A-log-forgot: shows that the step of a new password loads, with the way back", async () => {
  renderPage({ session, user: session.user, role: "admin" }, "/admin/auth?new-password=");
  expect(screen.getByRole("status")).toHaveTextContent("One moment…");
  expect(screen.getByText("Back to sign-in")).toBeVisible();
  expect(await screen.findByLabelText("New password")).toBeVisible();
  expect(screen.queryByText("One moment…")).not.toBeInTheDocument();
  expect(screen.getByText("Back to sign-in")).toBeVisible();
});
