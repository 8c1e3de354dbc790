import { screen } from "@testing-library/react";
import type { Session } from "@supabase/supabase-js";
import { Route, Routes, useLocation } from "react-router";
import { expect, it } from "vitest";
import { AdminGuard } from "@/features/admin-shell/components/admin-guard";
import type { Auth } from "@/lib/auth";
import { renderApp } from "@/test/render";

const session = { user: { id: "1" } } as Session;

function CurrentPath() {
  const { pathname, state } = useLocation();
  return <p>{`${pathname} ${JSON.stringify(state)}`}</p>;
}

function renderGuard(auth: Partial<Auth>) {
  renderApp(
    <Routes>
      <Route path="/admin" element={<AdminGuard />}>
        <Route path="products" element={<p>Secret</p>} />
      </Route>
      <Route path="*" element={<CurrentPath />} />
    </Routes>,
    { path: "/admin/products?edit=7", auth },
  );
}

it("shows only a skeleton until session and role are known", () => {
  renderGuard({ loading: true, session, user: session.user });
  expect(screen.getByRole("status")).toHaveTextContent("One moment…");
  expect(screen.queryByText("Secret")).not.toBeInTheDocument();
});

it("shows the admin pages to the owner", () => {
  renderGuard({ session, user: session.user, role: "admin" });
  expect(screen.getByText("Secret")).toBeVisible();
});

it("A-guard-2: redirects an account without the role to the home page", () => {
  renderGuard({ session, user: session.user, role: null });
  expect(screen.getByText("/ null")).toBeVisible();
});

it("A-guard-4: redirects a session that must verify a second factor to the sign-in page, with the requested path", () => {
  const pendingFactors = [{ id: "f", type: "totp" as const, name: "", phone: "" }];
  renderGuard({ session, user: session.user, role: "admin", pendingFactors });
  expect(screen.getByText('/admin/auth {"from":"/admin/products?edit=7"}')).toBeVisible();
});

it("A-guard-3: redirects visitors to the sign-in page, with the requested path", () => {
  renderGuard({});
  expect(screen.getByText('/admin/auth {"from":"/admin/products?edit=7"}')).toBeVisible();
});

it("A-factor-1: redirects an owner who must enrol a second factor to the account page", () => {
  renderGuard({ session, user: session.user, role: "admin", mustEnrol: true });
  expect(screen.getByText("/admin/account null")).toBeVisible();
});
