// A whole visit in Portuguese: the gallery, a work, and a message to the artist.
import { asService } from "../harness/clients.ts";
import { expect, expectAccessible, test } from "./fixtures.ts";

test.use({ viewport: { width: 390, height: 844 } });

test("a visitor views the works in Portuguese and sends a message", async ({ page, demo }) => {
  await page.goto(`${demo.url}/?lang=pt`);
  await expect(page.locator("html")).toHaveAttribute("lang", "pt");
  await expect(
    page.getByRole("heading", { name: "A confiança de mais de 500 clientes" }),
  ).toBeVisible();
  await page.getByRole("link", { name: "Explorar a galeria" }).click();

  await expect(page).toHaveURL(/\/gallery\/all/);
  await expect(page.getByRole("heading", { level: 1, name: "Galeria" })).toBeVisible();
  await page.getByRole("link", { name: "Aguarela", exact: true }).click();
  await expect(page).toHaveURL(/\/gallery\/watercolour/);
  await page.getByRole("link", { name: /Telhados/ }).click();

  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("heading", { name: /Telhados/ })).toBeVisible();
  await expect(dialog).toContainText("Técnica");
  await expectAccessible(page);
  await page.goBack();
  await expect(dialog).toBeHidden();

  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("button", { name: "Contacto" }).click();
  await expect(page).toHaveURL(/\/(\?.*)?$/);
  await expect(page.locator("#contact")).toBeFocused(); // the scrolling has begun; it does not move the focus again
  await page.getByLabel("Nome").fill("Inês");
  await page.getByLabel("E-mail").fill("ines");
  await page.getByLabel("Mensagem").fill("Olá");
  await page.getByRole("button", { name: "Enviar mensagem" }).click();
  await expect(page.getByText("Indique um endereço de e-mail válido")).toBeVisible();
  await expect(page.getByText("A mensagem deve ter pelo menos 10 caracteres")).toBeVisible();
  await expect(page.getByLabel("E-mail")).toBeFocused();

  await page.getByLabel("E-mail").fill("ines@exemplo.example");
  await page.getByLabel("Mensagem").fill("Bom dia! Temos uma parede de 6 × 3 metros.");
  await page.getByRole("button", { name: "Enviar mensagem" }).click();
  // Checked in parallel, because the toast closes after four seconds.
  await Promise.all([
    expect(page.getByText("Mensagem enviada com sucesso!")).toBeVisible(),
    expect(page.getByText("Mensagem enviada!", { exact: true })).toBeVisible(),
  ]);
  await expectAccessible(page);

  const stored = await asService(demo)
    .from("contact_submissions")
    .select("name, email, message, reason, status")
    .eq("message", "Bom dia! Temos uma parede de 6 × 3 metros.") // other tests write to this site too
    .single();
  expect(stored.data).toEqual({
    name: "Inês",
    email: "ines@exemplo.example",
    message: "Bom dia! Temos uma parede de 6 × 3 metros.",
    reason: "general",
    status: "new",
  });
  await page.getByRole("button", { name: "Enviar outra mensagem" }).click();
  await expect(page.getByLabel("Mensagem")).toHaveValue("");
});
