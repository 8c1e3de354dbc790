import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { FormProvider, useForm, useWatch } from "react-hook-form";
import { expect, test } from "vitest";
import { GalleryGroup } from "@/features/admin-settings/components/gallery-group";
import type { SettingsValues } from "@/features/admin-settings/schema";
import { DEFAULT_GALLERY } from "@/lib/gallery-settings";
import { renderApp } from "@/test/render";

function Form() {
  const form = useForm<SettingsValues>({
    defaultValues: { gallery: { ...DEFAULT_GALLERY, types: ["mural"], strip: "" } },
  });
  return (
    <FormProvider {...form}>
      <GalleryGroup />
      <output>{JSON.stringify(useWatch({ control: form.control, name: "gallery" }))}</output>
    </FormProvider>
  );
}

const values = () =>
  JSON.parse(document.querySelector("output")!.textContent) as SettingsValues["gallery"];

test("A-set-gallery: a type that is switched on comes last, and the last type cannot be switched off", async () => {
  const user = userEvent.setup();
  renderApp(<Form />);
  const mural = screen.getByRole("switch", { name: "Mural" });
  expect(mural).toBeDisabled();
  await user.click(screen.getByRole("switch", { name: "Oil" }));
  expect(values().types).toEqual(["mural", "oil"]);
  await user.click(mural);
  expect(values().types).toEqual(["oil"]);
  expect(screen.getByRole("switch", { name: "Oil" })).toBeDisabled();
});

test("A-set-types: arrows change the order of the types, which is announced, and keep the focus", async () => {
  const user = userEvent.setup();
  renderApp(<Form />);
  for (const type of ["Oil", "Digital Painting"])
    await user.click(screen.getByRole("switch", { name: type }));
  const order = () => screen.getAllByRole("switch").map((one) => one.closest("li")?.textContent);
  expect(order().slice(0, 5)).toEqual([
    "Mural",
    "Oil",
    "Digital Painting",
    "Watercolour",
    "Acrylic",
  ]);
  await user.click(screen.getByRole("button", { name: "Move Digital Painting up" }));
  expect(values().types).toEqual(["mural", "digital", "oil"]);
  expect(screen.getByText("Digital Painting: position 2 of 3")).toBeInTheDocument();
  const up = screen.getByRole("button", { name: "Move Digital Painting up" });
  expect(up).toHaveFocus();
  await user.keyboard("{Enter}{Enter}");
  expect(values().types).toEqual(["digital", "mural", "oil"]);
  expect(up).toHaveFocus();
  expect(up).toHaveAttribute("aria-disabled", "true");
  await user.click(screen.getByRole("button", { name: "Move Digital Painting down" }));
  expect(values().types).toEqual(["mural", "digital", "oil"]);
  expect(screen.queryByRole("button", { name: "Move Acrylic up" })).toBeNull();
});

test("A-set-gallery: the strip has the gallery's order until it gets its own", async () => {
  const user = userEvent.setup();
  renderApp(<Form />, { language: "pt" });
  const strip = screen.getByLabelText("Ordem das obras na página inicial");
  expect(strip).toHaveDisplayValue("Como na galeria");
  await user.selectOptions(screen.getByLabelText("Ordem da galeria"), "À mão");
  await user.selectOptions(strip, "Mais recentes primeiro");
  await user.click(screen.getByRole("switch", { name: "Esconder os botões de filtro sem obras" }));
  expect(values()).toEqual({
    types: ["mural"],
    order: "position.asc",
    strip: "created_at.desc",
    hideEmpty: true,
  });
});
