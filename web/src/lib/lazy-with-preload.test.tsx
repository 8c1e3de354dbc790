import { Suspense, useState } from "react";
import { fireEvent, render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { lazyWithPreload } from "@/lib/lazy-with-preload";

function Counter({ name }: { name: string }) {
  const [count, setCount] = useState(0);
  return <button onClick={() => setCount(count + 1)}>{`${name} ${count}`}</button>;
}

it("renders immediately after preload", async () => {
  const Loaded = lazyWithPreload(async () => Counter);
  await Loaded.preload();
  render(<Loaded name="a" />); // without Suspense around it
  expect(screen.getByText("a 0")).toBeVisible();
});

it("suspends without preload, and keeps its state afterwards", async () => {
  const load = vi.fn(async () => Counter);
  const Later = lazyWithPreload(load);
  const page = (name: string) => (
    <Suspense fallback="waiting">
      <Later name={name} />
    </Suspense>
  );
  const { rerender } = render(page("a"));
  expect(screen.getByText("waiting")).toBeVisible();
  fireEvent.click(await screen.findByText("a 0"));
  rerender(page("b"));
  expect(screen.getByText("b 1")).toBeVisible();
  expect(load).toHaveBeenCalledOnce();
});

it("loads again after a failure", async () => {
  const load = vi.fn().mockRejectedValueOnce(new Error("gone")).mockResolvedValue(Counter);
  const Unsteady = lazyWithPreload<{ name: string }>(load);
  await expect(Unsteady.preload()).rejects.toThrow("gone");
  await Unsteady.preload();
  render(<Unsteady name="a" />);
  expect(screen.getByText("a 0")).toBeVisible();
});
