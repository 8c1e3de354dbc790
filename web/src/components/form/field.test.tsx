import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { PasswordField } from "@/components/form/password-field";
import { SelectField } from "@/components/form/select-field";
import { TextField } from "@/components/form/text-field";
import { renderApp } from "@/test/render";

it("connects label, hint and error with the input", () => {
  renderApp(<TextField label="Tags" hint="Separate with commas" error="Too many" optional />);
  const input = screen.getByRole("textbox", { name: "Tags optional" });
  expect(input).toBeInvalid();
  expect(input).toHaveAccessibleDescription("Too many Separate with commas");
});

it("marks a required input by aria-required, without the browser's own messages", () => {
  renderApp(<TextField label="Title" required />);
  const input = screen.getByRole("textbox", { name: "Title" });
  expect(input).toHaveAttribute("aria-required", "true");
  expect(input).not.toHaveAttribute("required");
  expect(input).not.toHaveAttribute("aria-describedby");
});

it("renders the options of a select", () => {
  renderApp(
    <SelectField label="Type" defaultValue="b">
      <option value="a">A</option>
      <option value="b">B</option>
    </SelectField>,
  );
  expect(screen.getByRole("combobox", { name: "Type" })).toHaveValue("b");
});

it("A-log-show: shows and hides a password", async () => {
  renderApp(<PasswordField label="Password" />);
  const input = screen.getByLabelText("Password");
  expect(input).toHaveAttribute("type", "password");
  await userEvent.click(screen.getByRole("button", { name: "Show password" }));
  expect(input).toHaveAttribute("type", "text");
  await userEvent.click(screen.getByRole("button", { name: "Hide password" }));
  expect(input).toHaveAttribute("type", "password");
});
