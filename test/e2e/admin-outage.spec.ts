// The service is stopped while the owner's pages are open: each action says so in its own words and loses nothing.
import { startServer } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import { expect, test } from "./fixtures.ts";

// The browser's own notes on requests that nobody answers.
test.use({
  allowedConsole: [/ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE)|WebSocket/],
});
test.describe.configure({ timeout: 120_000 });

test("the server is stopped: works, reviews and covers say it, and keep what was typed", async ({
  context,
}) => {
  const server = await startServer("sqlite", { demo: true });
  let stopped = false;
  try {
    const products = await context.newPage();
    await signInAt(products, server, "/admin/products");
    const reviews = await context.newPage();
    await reviews.goto(`${server.url}/admin/reviews`);
    const covers = await context.newPage();
    await covers.goto(`${server.url}/admin/cover-images`);
    const first = covers
      .getByRole("listitem")
      .filter({ has: covers.getByRole("switch") })
      .first();
    await expect(first).toBeVisible();
    await reviews.getByRole("button", { name: "Add Review" }).click();
    await reviews.getByLabel("Client name").fill("Zé");
    await reviews.getByLabel("Message").fill("Muito bom.");
    // Loaded with the first toast; a page without a network could not fetch it any more.
    for (const page of [products, reviews, covers]) await page.bringToFront();
    await products
      .getByRole("button", { name: "Edit Onda" })
      .locator("visible=true")
      .first()
      .click();
    await products.getByLabel("Medium").fill("Ink");

    await server.stop();
    stopped = true;

    await products.bringToFront();
    await products.getByRole("button", { name: "Save changes" }).click();
    await expect(products.getByText("There was an error saving the product.")).toBeVisible();
    await expect(products.getByLabel("Medium")).toHaveValue("Ink");
    await products.getByRole("button", { name: "Cancel", exact: true }).click();
    await products.getByRole("button", { name: "Close without saving" }).click();
    await products
      .getByRole("button", { name: "Delete Onda" })
      .locator("visible=true")
      .first()
      .click();
    await products.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    await expect(products.getByText("There was an error deleting the product.")).toBeVisible();

    await reviews.bringToFront();
    await reviews.getByRole("dialog").getByRole("button", { name: "Add Review" }).click();
    await expect(reviews.getByText("Failed to add review")).toBeVisible();
    await expect(reviews.getByLabel("Message")).toHaveValue("Muito bom.");
    await reviews.getByRole("button", { name: "Cancel", exact: true }).click();
    await reviews.getByRole("button", { name: "Close without saving" }).click();
    await reviews.getByRole("button", { name: "Move down" }).first().click();
    await expect(reviews.getByText("Failed to update review order")).toBeVisible();
    await reviews.getByRole("button", { name: "Delete review by Ana" }).click();
    await reviews.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    await expect(reviews.getByText("Failed to delete review")).toBeVisible();
    await reviews.getByRole("button", { name: "Edit review by Ana" }).click();
    await reviews.getByLabel("Location").fill("Faro");
    await reviews.getByRole("button", { name: "Save changes" }).click();
    await expect(reviews.getByText("Failed to update review", { exact: true })).toBeVisible();

    await covers.bringToFront();
    await first.getByLabel("Description").fill("Not stored");
    await first.getByRole("button", { name: "Save" }).click();
    await expect(covers.getByText("Error", { exact: true }).first()).toBeVisible();
    await expect(first.getByLabel("Description")).toHaveValue("Not stored");
    await first.getByRole("switch").click();
    await expect(first.getByRole("switch", { name: "Active" })).toBeChecked();
  } finally {
    if (!stopped) await server.stop();
  }
});
