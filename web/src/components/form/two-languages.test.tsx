import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useForm } from "react-hook-form";
import { expect, test } from "vitest";
import { TwoLanguages } from "@/components/form/two-languages";
import { renderApp } from "@/test/render";

function Form({ title = "", title_pt = "" }) {
  const form = useForm({ defaultValues: { title, title_pt } });
  return (
    <TwoLanguages form={form} names={{ en: "title", pt: "title_pt" }} label="Title" required />
  );
}

const english = () => screen.getByRole("textbox", { name: "Title" });
const portuguese = () => screen.getByRole("textbox", { name: "Title in Portuguese" });

test("A-two-languages: both fields name their language, and a button copies the text into the empty field only", async () => {
  renderApp(<Form />);
  expect(english()).toHaveAttribute("lang", "en");
  expect(english()).toHaveAccessibleDescription("English");
  expect(english()).toBeRequired();
  expect(portuguese()).toHaveAttribute("lang", "pt");
  expect(portuguese()).not.toBeRequired();
  expect(screen.getByRole("button", { name: "Copy to Portuguese: Title" })).toBeDisabled();

  await userEvent.type(english(), "Azul");
  await userEvent.click(screen.getByRole("button", { name: "Copy to Portuguese: Title" }));
  expect(portuguese()).toHaveValue("Azul");
  expect(portuguese()).toHaveFocus();
  expect(screen.getByRole("button", { name: "Copy to Portuguese: Title" })).toBeDisabled();

  await userEvent.clear(english());
  await userEvent.click(screen.getByRole("button", { name: "Copy to English: Title" }));
  expect(english()).toHaveValue("Azul");
  expect(english()).toHaveFocus();
});
