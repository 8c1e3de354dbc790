import { act, render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { FormFields } from "@/components/form/form-fields";
import { useSave } from "@/lib/editing/use-save";

type FormProps = { save(): Promise<void>; onFailed(): void };

/** A form with two fields, which saves on request. */
function TestForm({ save, onFailed }: FormProps) {
  const { run, saving } = useSave({ save, onSaved: () => {}, onFailed });
  return (
    <>
      <FormFields saving={saving}>
        <input aria-label="Title" />
        <input aria-label="Name in the address" />
      </FormFields>
      <button onClick={() => void run({ base: {} })}>Save</button>
    </>
  );
}

const title = () => screen.getByLabelText("Title");
const slug = () => screen.getByLabelText("Name in the address");

/** Renders the form and begins a save that fails when the returned function is called. */
function beginFailingSave(onFailed: () => void) {
  let fail = () => {};
  const response = new Promise<void>((_, reject) => (fail = () => reject(new Error("no"))));
  render(<TestForm save={() => response} onFailed={onFailed} />);
  title().focus();
  act(() => screen.getByRole("button", { name: "Save" }).click());
  return () => act(async () => fail());
}

it("makes the fields inert while the form is saved, and returns the focus after a failure", async () => {
  const fail = beginFailingSave(() => {});
  expect(title().closest("[inert]")).not.toBeNull();
  title().blur(); // as browsers do with an inert element
  await fail();
  expect(title().closest("[inert]")).toBeNull();
  expect(title()).toHaveFocus();
});

it("leaves the focus at the field to which a failure moves it", async () => {
  const fail = beginFailingSave(() => slug().focus());
  await fail();
  expect(slug()).toHaveFocus();
});
