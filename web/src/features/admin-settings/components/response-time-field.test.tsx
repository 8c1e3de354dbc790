import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { FormProvider, useForm, useWatch } from "react-hook-form";
import { expect, test } from "vitest";
import { ResponseTimeField } from "@/features/admin-settings/components/response-time-field";
import type { SettingsValues } from "@/features/admin-settings/schema";
import type { MeasuredResponse } from "@/lib/types";
import { renderApp } from "@/test/render";

function Form({ measured }: { measured: MeasuredResponse }) {
  const form = useForm<SettingsValues>({ defaultValues: { responseTime: "" } });
  return (
    <FormProvider {...form}>
      <ResponseTimeField measured={measured} />
      <output>{useWatch({ control: form.control, name: "responseTime" })}</output>
    </FormProvider>
  );
}

test("A-set-response: the field shows the number of answers while there are too few", async () => {
  const user = userEvent.setup();
  renderApp(<Form measured={{ answers: 7, en: "", pt: "" }} />);
  const field = screen.getByLabelText("Response time that visitors read");
  expect(field).toHaveAccessibleDescription(/so far 7\./);
  await user.selectOptions(field, "Measured from your answers");
  expect(screen.getByRole("status")).toHaveTextContent("measured");
});

test("A-set-response: with enough answers the field shows the text for visitors", () => {
  const pt = "Costumo responder no prazo de 9 horas";
  renderApp(<Form measured={{ answers: 20, en: "Usually", pt }} />, { language: "pt" });
  expect(screen.getByLabelText("Tempo de resposta que se lê")).toHaveAccessibleDescription(
    /^Pelas últimas 20 respostas lê-se: «Costumo responder no prazo de 9 horas»\./,
  );
});
