import { useEffect } from "react";
import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useForm } from "react-hook-form";
import { expect, test } from "vitest";
import { AltTextFields } from "@/features/admin-products/components/alt-text-fields";
import { altTextsOf, formValues, type ProductValues } from "@/features/admin-products/schema";
import type { AltTexts } from "@/lib/types";
import { aProduct } from "@/test/a-product";
import { renderApp } from "@/test/render";

const media = { image_url: "/a.jpg", image_gallery: ["/b.jpg"], video_gallery: [] };
let current: () => ProductValues;

function Form({ urls = ["/a.jpg", "/b.jpg"] }) {
  const form = useForm<ProductValues>({
    defaultValues: formValues(
      aProduct({
        title: "Sea",
        medium: "Oil",
        medium_pt: "Óleo",
        alt_texts: { "/b.jpg": { pt: "Um barco" } },
      }),
    ),
  });
  useEffect(() => {
    current = form.getValues;
  }, [form.getValues]);
  return <AltTextFields form={form} urls={urls} />;
}

test("A-alt-texts: the form has a text for each picture and language, suggested from title and medium", async () => {
  renderApp(<Form />);
  expect(screen.getByText("1 of 2")).toBeInTheDocument();
  await userEvent.click(screen.getByText("Alternative texts"));
  const first = screen.getByRole("textbox", { name: "Picture 1" });
  expect(first).toHaveAttribute("placeholder", "Sea, Oil");
  expect(screen.getByRole("textbox", { name: "Picture 1 in Portuguese" })).toHaveAttribute(
    "placeholder",
    "Sea, Óleo",
  );
  await userEvent.type(first, "The sea");
  // The suggestion fills empty fields and keeps typed texts.
  await userEvent.click(screen.getByRole("button", { name: "Use the suggestion for picture 1" }));
  expect(altTextsOf(JSON.parse(current().alt_texts) as AltTexts, media)).toEqual({
    "/a.jpg": { en: "The sea", pt: "Sea, Óleo" },
    "/b.jpg": { pt: "Um barco" },
  });
  expect(screen.getByText("2 of 2")).toBeInTheDocument();
  expect(
    screen.queryByRole("button", { name: "Use the suggestion for picture 1" }),
  ).not.toBeInTheDocument();
});

test("shows nothing for a work without pictures", () => {
  renderApp(<Form urls={[]} />);
  expect(screen.queryByText("Alternative texts")).not.toBeInTheDocument();
});
