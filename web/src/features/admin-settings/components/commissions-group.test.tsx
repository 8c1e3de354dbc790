import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { FormProvider, useForm, useWatch } from "react-hook-form";
import { expect, test } from "vitest";
import { CommissionsGroup } from "@/features/admin-settings/components/commissions-group";
import { noCommissions, type SettingsValues } from "@/features/admin-settings/schema";
import { renderApp } from "@/test/render";

function Form() {
  const form = useForm<SettingsValues>({
    defaultValues: { commissions: { ...noCommissions(), slots: "" } },
  });
  return (
    <FormProvider {...form}>
      <CommissionsGroup />
      <output>{JSON.stringify(useWatch({ control: form.control, name: "commissions" }))}</output>
    </FormProvider>
  );
}

test("A-set-commissions: the group edits the state and the texts in both languages, and marks a missing text", async () => {
  const user = userEvent.setup();
  renderApp(<Form />);
  await user.selectOptions(screen.getByLabelText("Visitors are told"), "There is a waiting list");
  await user.type(screen.getByLabelText("Prices"), "from 300 €");
  expect(screen.getByLabelText("Prices in Portuguese")).toHaveAccessibleDescription(
    "Missing: visitors see the English text.",
  );
  expect(screen.getByLabelText("Terms")).toHaveAccessibleDescription("Left out of the site.");
  await user.click(screen.getByRole("button", { name: "Copy to Portuguese: Prices" }));
  expect(screen.getByLabelText("Prices in Portuguese")).toHaveValue("from 300 €");
  await user.clear(screen.getByLabelText("Prices in Portuguese"));
  await user.type(screen.getByLabelText(/^Slots/), "3");
  const want = { ...noCommissions(), slots: "3" };
  want.state = "waitlist";
  want.texts.en.prices = "from 300 €";
  expect(JSON.parse(document.querySelector("output")!.textContent)).toEqual(want);
});
