import { act, fireEvent, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { Session } from "@supabase/supabase-js";
import { expect, it, vi } from "vitest";
import { useLocation, useNavigate } from "react-router";
import { Header } from "@/components/layout/header";
import { renderApp } from "@/test/render";

const session = { user: { id: "1" } } as Session;
const admin = { session, user: session.user, role: "admin" as const };

function CurrentPath() {
  return <output>{useLocation().pathname}</output>;
}
/** Two buttons that do what Back and Forward of the browser do. */
function HistoryButtons() {
  const navigate = useNavigate();
  return (
    <>
      <button onClick={() => void navigate(-1)}>Back</button>
      <button onClick={() => void navigate(1)}>Forward</button>
    </>
  );
}
const page = (
  <>
    <Header />
    <main>
      <CurrentPath />
      <section id="about">About</section>
    </main>
  </>
);

it("shows visitors neither dashboard nor sign-out", () => {
  renderApp(page);
  expect(screen.getByRole("link", { name: "Alvor, home" })).toHaveAttribute("href", "/");
  expect(screen.getByRole("link", { name: "Gallery" })).toHaveAttribute("href", "/gallery/all");
  expect(screen.queryByRole("link", { name: "Dashboard" })).not.toBeInTheDocument();
  expect(screen.queryByRole("button", { name: "Sign Out" })).not.toBeInTheDocument();
});

it("shows the dashboard link to the owner, and Sign Out to everybody who is signed in", async () => {
  const signOut = vi.fn(async () => undefined);
  const { unmount } = renderApp(page, { auth: { ...admin, signOut } });
  expect(screen.getByRole("link", { name: "Dashboard" })).toHaveAttribute("href", "/admin");
  await userEvent.click(screen.getAllByRole("button", { name: "Sign Out" })[0]!);
  expect(signOut).toHaveBeenCalledTimes(1);
  unmount();

  renderApp(page, { auth: { session, user: session.user, role: null } });
  expect(screen.queryByRole("link", { name: "Dashboard" })).not.toBeInTheDocument();
  expect(screen.getByRole("button", { name: "Sign Out" })).toBeInTheDocument();
});

it("scrolls to a section on the home page, and navigates there first from other pages", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime });
  const scroll = vi.spyOn(Element.prototype, "scrollIntoView").mockImplementation(() => undefined);
  const { unmount } = renderApp(page);
  await user.click(screen.getByRole("button", { name: "About" }));
  expect(scroll).toHaveBeenCalledTimes(1);
  expect(scroll.mock.contexts[0]).toBe(document.getElementById("about"));
  expect(document.getElementById("about")).toHaveFocus();
  unmount();

  scroll.mockClear();
  renderApp(page, { path: "/gallery/all" });
  await user.click(screen.getByRole("button", { name: "About" }));
  expect(screen.getByRole("status")).toHaveTextContent(/^\/$/);
  expect(scroll).not.toHaveBeenCalled();
  act(() => void vi.advanceTimersByTime(100));
  expect(scroll).toHaveBeenCalledTimes(1);
  vi.useRealTimers();
});

it("marks the link of the current area", () => {
  renderApp(page, { path: "/gallery/mural" });
  expect(screen.getByRole("link", { name: "Gallery" })).toHaveAttribute("aria-current", "true");
});

it("locks the page behind the phone panel and keeps the focus in header and panel", async () => {
  const user = userEvent.setup();
  renderApp(page, { auth: admin });
  const menu = screen.getByRole("button", { name: "Menu" });
  await user.click(menu);
  expect(menu).toHaveAccessibleName("Close");
  expect(menu).toHaveAttribute("aria-expanded", "true");
  expect(document.documentElement.style.overflow).toBe("hidden");
  expect(screen.getByRole("main", { hidden: true })).toHaveAttribute("inert");

  const panel = document.getElementById(menu.getAttribute("aria-controls")!)!;
  const admins = within(panel).getByRole("list", { name: "Dashboard" });
  expect(
    within(admins)
      .getAllByRole("link")
      .map((link) => link.textContent),
  ).toEqual(["Overview", "Products", "Series", "Cover Images", "Reviews"]);
  const last = within(panel).getByRole("button", { name: "Sair" });
  act(() => last.focus());
  await user.tab();
  expect(screen.getByRole("link", { name: "Alvor, home" })).toHaveFocus();
  await user.tab({ shift: true });
  expect(last).toHaveFocus();

  await user.keyboard("{Escape}");
  expect(menu).toHaveFocus();
  expect(document.documentElement.style.overflow).toBe("");
  expect(screen.getByRole("main")).not.toHaveAttribute("inert");
});

it("closes the panel when a section is chosen", async () => {
  const user = userEvent.setup();
  renderApp(page);
  const menu = screen.getByRole("button", { name: "Menu" });
  await user.click(menu);
  const panel = document.getElementById(menu.getAttribute("aria-controls")!)!;
  await user.click(within(panel).getByRole("button", { name: "Contact" }));
  expect(menu).toHaveAttribute("aria-expanded", "false");
  expect(document.documentElement.style.overflow).toBe("");
});

it("moves the focus to the menu button when a link of the panel is followed", async () => {
  const user = userEvent.setup();
  renderApp(page, { path: "/gallery/mural" });
  const menu = screen.getByRole("button", { name: "Menu" });
  await user.click(menu);
  const panel = document.getElementById(menu.getAttribute("aria-controls")!)!;
  await user.click(within(panel).getByRole("link", { name: "Gallery" }));
  expect(screen.getByRole("status")).toHaveTextContent("/gallery/all");
  expect(menu).toHaveAttribute("aria-expanded", "false");
  expect(menu).toHaveFocus();
});

it("S2-panel-1: Back closes the panel, and the page that it leads to is not locked", async () => {
  const user = userEvent.setup();
  renderApp(
    <>
      <Header />
      <main>
        <CurrentPath />
        <HistoryButtons />
      </main>
    </>,
  );
  await user.click(screen.getByRole("link", { name: "Gallery" }));
  const menu = screen.getByRole("button", { name: "Menu" });
  await user.click(menu);
  fireEvent.click(screen.getByText("Back"));
  expect(screen.getByRole("status")).toHaveTextContent(/^\/$/);
  expect(menu).toHaveAttribute("aria-expanded", "false");
  expect(document.documentElement.style.overflow).toBe("");
  expect(screen.getByRole("main")).not.toHaveAttribute("inert");
  fireEvent.click(screen.getByText("Forward"));
  expect(screen.getByRole("status")).toHaveTextContent("/gallery/all");
  expect(menu).toHaveAttribute("aria-expanded", "false");
});

it("S2-nav-13: links to the testimonials only if there are reviews", async () => {
  renderApp(page, { boot: { hasReviews: false } });
  expect(screen.queryByRole("button", { name: "Testimonials" })).not.toBeInTheDocument();
  await userEvent.click(screen.getByRole("button", { name: "Menu" }));
  expect(screen.getAllByRole("button", { name: "About" })).toHaveLength(2);
  expect(screen.queryByRole("button", { name: "Testimonials" })).not.toBeInTheDocument();
});

it("S2-panel-2: the phone panel links to settings and account", async () => {
  renderApp(page, { auth: admin });
  await userEvent.click(screen.getByRole("button", { name: "Menu" }));
  const own = within(screen.getByRole("list", { name: "Site and account" }));
  expect(own.getAllByRole("link").map((link) => link.getAttribute("href"))).toEqual([
    "/admin/settings",
    "/admin/account",
  ]);
});
