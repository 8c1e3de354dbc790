import { screen, within } from "@testing-library/react";
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
      <CommissionsGroup shownLanguage="en" onShowLanguage={() => undefined} />
      <output>{JSON.stringify(useWatch({ control: form.control, name: "commissions" }))}</output>
    </FormProvider>
  );
}

test("A-set-commissions: the state and the texts in both languages; a missing one is marked", async () => {
  const user = userEvent.setup();
  renderApp(<Form />);
  await user.selectOptions(screen.getByLabelText("Visitors are told"), "There is a waiting list");
  await user.type(screen.getByLabelText("Prices, English"), "from 300 €");
  expect(screen.getByLabelText("Prices, Portuguese")).toHaveAccessibleDescription(
    "Missing: visitors see the English text.",
  );
  expect(screen.getByLabelText("Terms, English")).toHaveAccessibleDescription(
    "Left out of the site.",
  );
  const tabs = screen.getByRole("group", { name: "Language of the texts" });
  expect(within(tabs).getByRole("button", { name: /^Portuguese/ })).toHaveTextContent("1 missing");
  await user.type(screen.getByLabelText(/^Slots/), "3");
  const want = { ...noCommissions(), slots: "3" };
  want.state = "waitlist";
  want.texts.en.prices = "from 300 €";
  expect(JSON.parse(document.querySelector("output")!.textContent)).toEqual(want);
});
