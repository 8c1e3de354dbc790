import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { CalendarAddress } from "@/features/admin-settings/components/calendar-address";
import type { CalendarFeed } from "@/lib/types";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp, testBoot } from "@/test/render";
import { collectToasts } from "@/test/toasts";

type Call = { action?: string; language?: CalendarFeed["language"] };

let calendar: CalendarFeed | null;
let refusal: string | undefined;
let calls: Call[];

const server = setupServer(
  http.post(`${testBoot.apiUrl}/functions/v1/calendar-feed`, async ({ request }) => {
    const call = (await request.json()) as Call;
    if (call.action) {
      if (refusal) return HttpResponse.json({ success: false, error: refusal }, { status: 507 });
      calls.push(call);
      calendar =
        call.action === "remove"
          ? null
          : {
              url: `https://alvor.example/calendar/token${calls.length}.ics`,
              language: call.language!,
              created_at: "2026-11-13T09:41:00Z",
            };
    }
    return HttpResponse.json({ success: true, calendar });
  }),
);
beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  calendar = null;
  refusal = undefined;
  calls = [];
});
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

const open = () => {
  const user = userEvent.setup();
  const toasts = collectToasts();
  renderApp(<CalendarAddress />, { auth: ownerAuth, owner: testOwner() });
  return { user, toasts };
};
const button = (name: string) => screen.findByRole("button", { name });

it("CAL-settings: the address is made in the chosen language, and copied", async () => {
  const { user } = open();
  await user.selectOptions(await screen.findByLabelText("Language of the calendar"), "Portuguese");
  await user.click(await button("Create address"));
  expect(await screen.findByText("https://alvor.example/calendar/token1.ics")).toBeVisible();
  expect(screen.getByText("Since 13 Nov 2026, in Portuguese")).toBeVisible();
  expect(calls).toEqual([{ action: "create", language: "pt" }]);
  await user.click(await button("Copy"));
  expect(await screen.findByText("Copied")).toBeVisible();
  expect(await navigator.clipboard.readText()).toBe("https://alvor.example/calendar/token1.ics");
  navigator.clipboard.writeText = () => Promise.reject(new Error("not allowed"));
  await user.click(await button("Copy"));
  expect(await screen.findByText("Copying failed: please copy it by hand.")).toBeVisible();
});

it("CAL-settings: it is replaced and removed after a question", async () => {
  calendar = { url: "", language: "en", created_at: "2026-11-13T09:41:00Z" };
  const { user, toasts } = open();
  expect(await screen.findByText(/^Your calendar program alone knows/)).toBeVisible();
  await user.click(await button("Replace"));
  let question = await screen.findByRole("alertdialog");
  expect(question).toHaveTextContent("The old address stops working.");
  await user.click(within(question).getByRole("button", { name: "Cancel" }));
  expect(calls).toEqual([]);
  await user.click(await button("Replace"));
  question = await screen.findByRole("alertdialog");
  await user.click(within(question).getByRole("button", { name: "Replace" }));
  expect(await screen.findByText("https://alvor.example/calendar/token1.ics")).toBeVisible();
  expect(toasts.at(-1)?.title).toBe("Calendar address replaced");

  await user.click(await button("Remove"));
  question = await screen.findByRole("alertdialog");
  expect(question).toHaveTextContent("Programs that subscribe to it get no more dates.");
  await user.click(within(question).getByRole("button", { name: "Remove" }));
  expect(await button("Create address")).toBeVisible();
  expect(toasts.at(-1)?.title).toBe("Calendar address removed");
  expect(calls).toEqual([{ action: "replace", language: "en" }, { action: "remove" }]);
});

it("CAL-settings: an error of the server is shown, and changes nothing", async () => {
  refusal = "The disk is full";
  const { user, toasts } = open();
  await user.click(await button("Create address"));
  await waitFor(() => expect(toasts.at(-1)?.description).toBe("The disk is full"));
  expect(await button("Create address")).toBeVisible();
});
