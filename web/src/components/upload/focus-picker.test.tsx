import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { FocusPicker } from "@/components/upload/focus-picker";
import { renderApp } from "@/test/render";

it("stores one point after the other, so that the last one stays", async () => {
  const stored: number[] = [];
  const answers: (() => void)[] = [];
  const owner = {
    rpc: (_: string, { x }: { x: number }) => {
      stored.push(x);
      return new Promise((answer) => answers.push(() => answer({ error: null })));
    },
  };
  const info = { kind: "image", width: 800, height: 600, widths: [], v: "1", focus: [0.5, 0.5] };
  renderApp(<FocusPicker url="a" info={info as never} queryKey={["covers"]} />, {
    owner: owner as never,
  });
  const picker = screen.getByRole("button");
  picker.focus();
  await userEvent.keyboard("{ArrowRight}{ArrowRight}");
  expect(picker).toHaveAccessibleName(/60% from the left/);
  expect(stored).toEqual([0.55]);
  answers[0]!();
  await waitFor(() => expect(stored).toEqual([0.55, 0.6]));
  answers[1]!();
});
