import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { STAGES } from "@/features/admin-messages/board";
import { CommissionBoard } from "@/features/admin-messages/components/commission-board";
import { messageKeys } from "@/lib/message-keys";
import type { BoardColumn, CommissionStage } from "@/lib/types";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp, testBoot } from "@/test/render";
import { collectToasts } from "@/test/toasts";

const functions = `${testBoot.apiUrl}/functions/v1`;
const nextStages: Partial<Record<CommissionStage, CommissionStage[]>> = {
  accepted: ["in_progress", "declined"],
  in_progress: ["accepted", "finished"],
};
/** The stage that the server has stored. */
let stage: CommissionStage;
/** The moves that have reached the server, which it answers one after the other. */
let moves: { from: CommissionStage; stage: CommissionStage }[];
let answers: (() => void)[];

const columns = (): BoardColumn[] =>
  STAGES.map((one) => ({
    stage: one,
    total: one === stage ? 1 : 0,
    next: nextStages[one] ?? [],
    cards:
      one === stage
        ? [
            {
              message_id: "11111111-1111-4111-8111-111111111111",
              name: "Inês",
              artwork_id: null,
              price: "",
              promised_on: "",
              unread: false,
              created_at: "2026-03-12T10:00:00Z",
            },
          ]
        : [],
  }));

const server = setupServer(
  http.post(`${functions}/commission-board`, () => HttpResponse.json({ columns: columns() })),
  http.post(`${functions}/commission`, async ({ request }) => {
    const move = (await request.json()) as (typeof moves)[number];
    moves.push(move);
    await new Promise<void>((done) => answers.push(done));
    if (move.from !== stage) return HttpResponse.json({ error: "conflict" }, { status: 409 });
    stage = move.stage;
    return HttpResponse.json({});
  }),
);

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  stage = "accepted";
  moves = [];
  answers = [];
});
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

async function open() {
  const user = userEvent.setup();
  const toasts = collectToasts();
  const { queryClient } = renderApp(<CommissionBoard />, { owner: testOwner(), auth: ownerAuth });
  await screen.findByRole("button", { name: /^Inês/ });
  const focus = () => screen.getByRole("button", { name: /^Inês/ }).focus();
  return { user, toasts, queryClient, focus };
}

const column = (name: string) =>
  within(screen.getByRole("heading", { name: new RegExp(`^${name}`) }).closest("section")!);
const isIn = (name: string) => column(name).queryByRole("button", { name: /^Inês/ }) !== null;

it("BOARD-keys: a moved card stays in its new stage while the board is refetched, and can be moved on", async () => {
  const { user, toasts, queryClient, focus } = await open();
  focus();
  await user.keyboard("{Alt>}{ArrowRight}{/Alt}");
  await waitFor(() => expect(moves).toHaveLength(1));
  // This response still has the old stage.
  await queryClient.refetchQueries({ queryKey: messageKeys.board });
  await waitFor(() => expect(queryClient.isFetching()).toBe(0));
  expect(isIn("In progress")).toBe(true);
  expect(screen.getByRole("button", { name: /^Inês/ })).toHaveFocus();
  await user.keyboard("{Alt>}{ArrowRight}{/Alt}");
  await waitFor(() => expect(isIn("Finished")).toBe(true));
  answers[0]!();
  await waitFor(() => expect(moves).toHaveLength(2));
  answers[1]!();
  await waitFor(() => expect(stage).toBe("finished"));
  expect(moves).toMatchObject([
    { from: "accepted", stage: "in_progress" },
    { from: "in_progress", stage: "finished" },
  ]);
  await waitFor(() => expect(queryClient.isMutating()).toBe(0));
  expect(isIn("Finished")).toBe(true);
  expect(toasts).toEqual([]);
});

it("BOARD-keys: a saved move stays although the board cannot be refetched", async () => {
  const { user, queryClient, focus } = await open();
  server.use(
    http.post(`${functions}/commission-board`, () => HttpResponse.json({}, { status: 500 })),
  );
  focus();
  await user.keyboard("{Alt>}{ArrowRight}{/Alt}");
  await waitFor(() => expect(moves).toHaveLength(1));
  answers[0]!();
  await waitFor(() => expect(queryClient.isMutating()).toBe(0));
  expect(isIn("In progress")).toBe(true);
});

it("BOARD-refused: a card that was moved by somebody else returns to its stage, and a toast says so", async () => {
  const { user, toasts, focus } = await open();
  focus();
  await user.keyboard("{Alt>}{ArrowRight}{/Alt}");
  await waitFor(() => expect(moves).toHaveLength(1));
  stage = "declined";
  answers[0]!();
  await waitFor(() =>
    expect(toasts).toMatchObject([
      { description: expect.stringMatching(/^Inês was moved meanwhile/) },
    ]),
  );
  await waitFor(() => expect(isIn("Declined")).toBe(true));
  expect(isIn("In progress")).toBe(false);
});
