import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { SettingsHistory } from "@/features/admin-settings/components/settings-history";
import type { SettingsResponse } from "@/lib/types";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp, testBoot } from "@/test/render";
import { collectToasts } from "@/test/toasts";

const rest = `${testBoot.apiUrl}/rest/v1`;
const loaded: SettingsResponse = {
  version: "1",
  settings: {
    site: { ...testBoot.site, messageMonths: 12 },
    noticeEmail: [],
    noticeWebhook: "",
    noticeLanguage: "",
    thanksEnabled: false,
  },
  seed: [],
  guide: "done",
  page: testBoot.site,
};

let earlierMonths: number;
let oldMessages: number | null; // null: the count fails
const saved: unknown[] = [];
const server = setupServer(
  http.post(`${rest}/rpc/get_history`, () =>
    HttpResponse.json([
      {
        id: 1,
        row_id: "site",
        action: "update",
        actor: null,
        changed_at: "2026-01-02T00:00:00Z",
        row_before: {
          key: "site",
          value: { ...testBoot.site, name: "Before", messageMonths: earlierMonths },
        },
        replaced_files: [],
      },
    ]),
  ),
  http.head(`${rest}/contact_submissions`, () =>
    oldMessages === null
      ? new HttpResponse(null, { status: 500 })
      : new HttpResponse(null, { headers: { "content-range": `*/${oldMessages}` } }),
  ),
  http.post(`${rest}/rpc/save_site_settings`, async ({ request }) => {
    saved.push(await request.json());
    return HttpResponse.json(loaded);
  }),
);

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  saved.length = 0;
});
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

const dialogsClosed = () =>
  waitFor(() => expect(screen.queryByRole("dialog")).not.toBeInTheDocument());

/** Opens the earlier version and clicks the button that restores it. */
async function restoreVersion() {
  const user = userEvent.setup();
  const toasts = collectToasts();
  renderApp(<SettingsHistory current={loaded} onRestored={() => undefined} />, {
    owner: testOwner(),
    auth: ownerAuth,
  });
  await user.click(screen.getByRole("button", { name: "History" }));
  await user.click(await screen.findByRole("button", { name: /^Until 2 January 2026/ }));
  await user.click(screen.getByRole("button", { name: "Bring this version back" }));
  return { user, toasts };
}

it("A-set-retention A-history-back: before a version with a shorter retention is brought back, a question says how many messages it deletes", async () => {
  [earlierMonths, oldMessages] = [6, 3];
  const { user, toasts } = await restoreVersion();
  const question = await screen.findByRole("alertdialog", { name: "Bring this version back" });
  expect(question).toHaveAccessibleDescription(
    "This version keeps messages for 6 months. Messages that are removed for good within an hour: 3 at most.",
  );
  await user.click(within(question).getByRole("button", { name: "Cancel" }));
  const history = await screen.findByRole("dialog", { name: "History of Settings" });
  expect(within(history).getByText("Messages are kept")).toBeVisible();
  const again = within(history).getByRole("button", { name: "Bring this version back" });
  await waitFor(() => expect(again).not.toHaveAttribute("aria-busy"));
  expect(saved).toEqual([]);
  expect(toasts).toEqual([]);

  await user.click(again);
  await user.click(
    within(await screen.findByRole("alertdialog")).getByRole("button", { name: "Bring back" }),
  );
  await waitFor(() => expect(toasts).toMatchObject([{ title: "The earlier version is back" }]));
  expect(saved).toEqual([
    { version: "1", settings: { site: { name: "Before", messageMonths: 6 } } },
  ]);
  await dialogsClosed();
});

it.each([
  [24, 3],
  [6, 0],
])(
  "A-set-retention: a version with %i months is brought back without a question if %i messages are older",
  async (months, count) => {
    [earlierMonths, oldMessages] = [months, count];
    const { toasts } = await restoreVersion();
    await waitFor(() => expect(toasts).toMatchObject([{ title: "The earlier version is back" }]));
    expect(saved).toMatchObject([{ settings: { site: { messageMonths: months } } }]);
    await dialogsClosed();
  },
);

it("A-set-retention: a version with a shorter retention is not brought back if its messages cannot be counted", async () => {
  [earlierMonths, oldMessages] = [6, null];
  const { toasts } = await restoreVersion();
  await waitFor(() =>
    expect(toasts).toMatchObject([{ description: "It could not be brought back." }]),
  );
  expect(saved).toEqual([]);
});
