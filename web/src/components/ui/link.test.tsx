import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useLocation } from "react-router";
import { expect, it, vi } from "vitest";
import { Link } from "@/components/ui/link";
import { renderApp } from "@/test/render";

function CurrentUrl() {
  const { pathname, search } = useLocation();
  return <output>{pathname + search}</output>;
}

it("navigates without loading a page, after its onClick handler", async () => {
  const onClick = vi.fn();
  renderApp(
    <>
      <Link to="/gallery/all?art=1" onClick={onClick} className="x">
        Gallery
      </Link>
      <CurrentUrl />
    </>,
  );
  const link = screen.getByRole("link", { name: "Gallery" });
  expect(link).toHaveAttribute("href", "/gallery/all?art=1");
  expect(link).toHaveClass("x");
  await userEvent.click(link);
  expect(onClick).toHaveBeenCalledOnce();
  expect(screen.getByRole("status")).toHaveTextContent("/gallery/all?art=1");
});

it("does not navigate if the handler prevents it, and leaves new tabs to the browser", async () => {
  let handled: boolean | null = null;
  // jsdom cannot navigate. This handler on the document cancels the clicks that Link leaves to the browser.
  const stop = (event: MouseEvent) => {
    handled = event.defaultPrevented;
    event.preventDefault();
  };
  document.addEventListener("click", stop);
  renderApp(
    <>
      <Link to="/stopped" onClick={(event) => event.preventDefault()}>
        Stopped
      </Link>
      <Link to="/tab">Tab</Link>
      <CurrentUrl />
    </>,
  );
  await userEvent.click(screen.getByRole("link", { name: "Stopped" }));
  expect(screen.getByRole("status")).toHaveTextContent(/^\/$/);
  const user = userEvent.setup();
  await user.keyboard("{Control>}");
  await user.click(screen.getByRole("link", { name: "Tab" }));
  expect(handled).toBe(false);
  expect(screen.getByRole("status")).toHaveTextContent(/^\/$/);
  document.removeEventListener("click", stop);
});
