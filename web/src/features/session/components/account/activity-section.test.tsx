import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { ActivitySection } from "@/features/session/components/account/activity-section";
import { relativeTime } from "@/lib/owner-dates";
import type { ActivityEntry } from "@/lib/types";
import { renderApp } from "@/test/render";
import { collectToasts } from "@/test/toasts";

const entry = (id: string, more: Partial<ActivityEntry>): ActivityEntry => ({
  id,
  at: new Date(2026, 10, 23, 9, 41).toISOString(),
  kind: "change",
  action: "update",
  by: "account",
  account: "ana@alvor.example",
  ...more,
});
const device = { browser: "Firefox", system: "Linux" };
const newest = [
  entry("1", { table: "products", row_id: "w", title: "Onda & mar" }),
  entry("2", { table: "products", action: "delete", title: "Onda", by: "deleted", account: "" }),
  entry("3", { table: "cover_images", action: "insert", row_id: "c", by: "program", account: "" }),
  entry("4", { table: "site_settings", title: "notice.email" }),
  entry("5", { table: "contact_submissions", action: "delete", number: 3 }),
  entry("6", { kind: "refused", action: "sign_in_refused", ip: "192.0.2.1", device }),
  entry("7", { kind: "key", action: "role_given", title: "admin", subject: "rui@alvor.example" }),
  entry("8", {
    kind: "key",
    action: "key_revoked",
    title: "service_role",
    number: 2,
    by: "program",
  }),
  entry("9", { kind: "export", action: "unknown-export" }),
  entry("11", { kind: "export", action: "site-copy", title: "postgres://ana@db/site" }),
  entry("12", { kind: "export", action: "backup-place", title: "s3://disk.example/ana" }),
  entry("13", { action: "site-import", title: "https://ana.example" }),
  entry("14", { action: "supabase-import" }),
  entry("16", {
    table: "series_works",
    action: "insert",
    row_id: "w",
    title: "Onda",
    series: { id: "s", title: "Luz" },
  }),
  entry("17", {
    table: "series_works",
    action: "delete",
    row_id: "w",
    title: "Onda",
    series: { title: "Luz" },
  }),
  entry("15", { action: "site-restore", title: new Date(2026, 10, 22, 10, 5).toISOString() }),
];
const older = entry("10", {
  at: new Date(2026, 10, 22, 23, 5).toISOString(),
  kind: "sign_in",
  action: "login",
  method: "google",
});

type Answer = { data: object | null; error: Error | null };
const answer = vi.fn<(body: object) => Answer>();
beforeEach(() => {
  answer.mockReset();
  answer.mockReturnValue({ data: { entries: newest, next: "" }, error: null });
});

const renderSection = (language: "en" | "pt" = "en") =>
  renderApp(<ActivitySection />, {
    language,
    owner: {
      rpc: (name: string, body: object) => {
        expect(name).toBe("get_activity");
        const promise = Promise.resolve().then(() => answer(body));
        return Object.assign(promise, { abortSignal: () => promise });
      },
    } as never,
  });

it("A-activity-list: lists by day what happened, who did it, from where and when, with links to what still exists", async () => {
  renderSection();
  expect(await screen.findByRole("heading", { name: "23 November 2026" })).toBeVisible();
  const lines = screen.getAllByRole("listitem").map((item) => {
    const [what, who] = within(item).getAllByRole("paragraph");
    return [what!.textContent, who!.textContent];
  });
  expect(lines).toEqual([
    ["Changed the work Onda & mar", "ana@alvor.example"],
    ["Deleted the work Onda", "An account that is deleted"],
    ["Added the cover without a title", "A key, a command or the program itself"],
    ["Changed the settings: recipients of notices", "ana@alvor.example"],
    ["Deleted 3 messages", "ana@alvor.example"],
    [
      "Sign-in refused: wrong name or password",
      "For ana@alvor.example · Firefox, Linux · 192.0.2.1",
    ],
    ["Made somebody an administrator", "ana@alvor.example · account rui@alvor.example"],
    ["Revoked service key 2", "A key, a command or the program itself"],
    ["unknown-export", "ana@alvor.example"], // an export of a newer server
    ["Copied the whole site to postgres://ana@db/site", "ana@alvor.example"],
    ["Began a backup in s3://disk.example/ana", "ana@alvor.example"],
    ["Imported the site https://ana.example", "ana@alvor.example"],
    ["Imported a Supabase project", "ana@alvor.example"],
    ["Added the work Onda to the series Luz", "ana@alvor.example"],
    ["Removed the work Onda from the series Luz", "ana@alvor.example"],
    ["Restored the site from a backup, as it was on 22 November 2026, 10:05", "ana@alvor.example"],
  ]);
  expect(screen.getAllByRole("link").map((link) => link.getAttribute("href"))).toEqual([
    "/admin/products?q=Onda+%26+mar",
    "/admin/cover-images",
    "/admin/settings",
    "/admin/series?works=s",
  ]);
  const [time] = screen.getAllByText(/^09:41, /);
  expect(time).toHaveAttribute("datetime", newest[0]!.at);
  expect(time).toHaveAttribute("title", "23 November 2026, 09:41");
  expect(screen.getByText("That is everything of the last 400 days.")).toBeVisible();
});

it("A-activity-list: older entries load on request, and the focus stays in the list", async () => {
  const toasts = collectToasts();
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  answer.mockReturnValueOnce({ data: { entries: newest, next: "position" }, error: null });
  answer.mockReturnValueOnce({ data: null, error: new Error("away") });
  answer.mockReturnValueOnce({ data: { entries: [older], next: "" }, error: null });
  renderSection();
  const more = await screen.findByRole("button", { name: "Show more" });
  await userEvent.click(more);
  await waitFor(() => expect(toasts).toMatchObject([{ destructive: true }]));
  await userEvent.click(more);
  expect(await screen.findByRole("heading", { name: "22 November 2026" })).toBeVisible();
  expect(screen.getByText("ana@alvor.example · google")).toBeVisible();
  expect(screen.getByText("That is everything of the last 400 days.")).toHaveFocus();
  expect(screen.getByRole("status")).toHaveTextContent("Entries shown: 17");
  expect(answer.mock.calls).toEqual([[{}], [{ after: "position" }], [{ after: "position" }]]);
});

it("A-activity-list: one kind can be chosen; an empty list and a failure have texts", async () => {
  renderSection("pt");
  await screen.findByRole("heading", { name: "23 de novembro de 2026" });
  answer.mockReturnValue({ data: { entries: [], next: "" }, error: null });
  await userEvent.selectOptions(screen.getByLabelText("Mostrar"), "Exportações");
  expect(await screen.findByText("Não há nada deste tipo nos últimos 400 dias.")).toBeVisible();
  answer.mockReturnValueOnce({ data: null, error: new Error("away") });
  await userEvent.selectOptions(screen.getByLabelText("Mostrar"), "Recusadas");
  expect(await screen.findByRole("alert")).toBeVisible();
  await userEvent.click(within(screen.getByRole("alert")).getByRole("button"));
  expect(await screen.findByText("Não há nada deste tipo nos últimos 400 dias.")).toBeVisible();
  expect(answer.mock.calls.map(([body]) => body)).toEqual([
    {},
    { kind: "export" },
    { kind: "refused" },
    { kind: "refused" },
  ]);
});

it("says how long ago something was", () => {
  const now = Date.UTC(2026, 10, 23, 12);
  const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
  expect([0, 5, 61, 24 * 60, 400 * 24 * 60].map((m) => relativeTime(ago(m), "en", now))).toEqual([
    "now",
    "5 minutes ago",
    "1 hour ago",
    "yesterday",
    "400 days ago",
  ]);
  expect(relativeTime(ago(-5), "en", now)).toBe("now"); // the server's clock is ahead
  expect(relativeTime(ago(180), "pt", now)).toBe("há 3 horas");
});
