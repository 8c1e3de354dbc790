import { useRef } from "react";
import { render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { useFilePaste } from "@/components/upload/use-file-paste";
import { IMAGE_ONLY } from "@/lib/upload/media-types";

type FieldProps = { label: string; onFiles(files: File[]): void };

function Field({ label, onFiles }: FieldProps) {
  const element = useRef<HTMLDivElement>(null);
  useFilePaste(element, IMAGE_ONLY, onFiles);
  return <div ref={element} role="group" aria-label={label} />;
}

/** Dispatches the paste of a picture while no field has the focus. Returns whether a field has taken it. */
function pastePicture(): boolean {
  const picture = new File(["picture"], "picture.jpg", { type: "image/jpeg" });
  const event = Object.assign(new Event("paste", { bubbles: true, cancelable: true }), {
    clipboardData: { files: [picture], types: ["Files"] },
  });
  return !document.body.dispatchEvent(event);
}

it("gives a pasted picture to no inert field, such as one of a form that is being saved", () => {
  const takeInert = vi.fn();
  const take = vi.fn();
  const form = (
    <div data-testid="fields">
      <Field label="Main image" onFiles={takeInert} />
    </div>
  );
  const { rerender } = render(form);
  screen.getByTestId("fields").setAttribute("inert", "");
  expect(pastePicture()).toBe(false);

  rerender(
    <>
      {form}
      <Field label="Gallery images" onFiles={take} />
    </>,
  );
  screen.getByTestId("fields").setAttribute("inert", "");
  expect(pastePicture()).toBe(true);
  expect(takeInert).not.toHaveBeenCalled();
  expect(take).toHaveBeenCalledOnce();
});

it("gives a pasted picture to the first field", () => {
  const first = vi.fn();
  const second = vi.fn();
  render(
    <>
      <Field label="Main image" onFiles={first} />
      <Field label="Gallery images" onFiles={second} />
    </>,
  );
  expect(pastePicture()).toBe(true);
  expect(first).toHaveBeenCalledOnce();
  expect(second).not.toHaveBeenCalled();
});
