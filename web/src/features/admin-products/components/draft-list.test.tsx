import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useSyncExternalStore } from "react";
import { expect, it, vi } from "vitest";
import { DraftList } from "@/features/admin-products/components/draft-list";
import { DraftBatch } from "@/features/admin-products/draft-batch";
import type { ProductPayload } from "@/features/admin-products/schema";
import { pngFile } from "@/test/files";
import { renderApp } from "@/test/render";

function List({ batch }: { batch: DraftBatch }) {
  const drafts = useSyncExternalStore(batch.subscribe, batch.getSnapshot);
  return <DraftList drafts={drafts} batch={batch} add={() => undefined} />;
}

function renderDrafts(count: number) {
  const saved: ProductPayload[] = [];
  const batch = new DraftBatch({
    upload: (file) => Promise.resolve(`/stored/${file.name}`),
    discard: async () => undefined,
    save: async (_, payload) => void saved.push(payload),
  });
  renderApp(<List batch={batch} />);
  return {
    saved,
    user: userEvent.setup(),
    add: async () => {
      batch.add(Array.from({ length: count }, (_, n) => pngFile(`${n + 1}.png`)));
      await screen.findByText(`${count} of ${count} pictures uploaded`);
    },
    row: (n: number) => within(screen.getByRole("listitem", { name: `Draft: ${n}.png` })),
  };
}

it("A-bulk-visible: each draft shows who will see the work, with the hints of the form", async () => {
  const { saved, user, add, row } = renderDrafts(3);
  await add();
  const choice = (n: number) => row(n).getByLabelText("Who sees it");
  expect(choice(1)).toHaveValue("published");
  expect(row(1).getByText("Everyone sees it on the site.")).toBeVisible();
  await user.selectOptions(choice(2), "Draft");
  expect(row(2).getByText("Only you see it, here in the admin area.")).toBeVisible();
  await user.selectOptions(choice(3), "Scheduled");
  const time = row(3).getByLabelText(/^Date and time/);
  expect(time).toHaveDisplayValue(/T09:00$/);
  await user.clear(time);
  await user.click(screen.getByRole("button", { name: "Save all" }));
  expect(row(3).getByText("Choose a date and time that are still to come")).toBeVisible();
  expect(row(3).getByLabelText(/^Date and time/)).toHaveFocus();
  await vi.waitFor(() => expect(saved.map((work) => work.published_at)).toEqual([undefined, null]));
  await user.type(row(3).getByLabelText(/^Date and time/), "2999-06-01T10:00");
  await user.click(row(3).getByRole("button", { name: "Save 3" }));
  await vi.waitFor(() => expect(saved).toHaveLength(3));
  expect(saved[2]!.published_at).toBe(new Date(2999, 5, 1, 10).toISOString());
});

it("A-bulk-visible: the visibility of all drafts, and its time, can be set together", async () => {
  const { saved, user, add } = renderDrafts(2);
  await add();
  expect(screen.queryByLabelText("Date and time for all")).toBeNull();
  await user.selectOptions(screen.getByLabelText("Who sees all of them"), "Scheduled");
  const time = screen.getByLabelText("Date and time for all");
  await user.clear(time);
  await user.type(time, "2999-06-01T10:00");
  await user.click(screen.getByRole("button", { name: "Save all" }));
  const at = new Date(2999, 5, 1, 10).toISOString();
  await vi.waitFor(() => expect(saved.map((work) => work.published_at)).toEqual([at, at]));
});
