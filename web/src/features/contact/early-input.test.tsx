import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { ContactForm } from "@/features/contact/components/contact-form";
import { renderApp } from "@/test/render";

function typeInto(serverHtml: HTMLElement, name: string, text: string): void {
  const field = serverHtml.querySelector<HTMLInputElement>(`[name=${name}]`)!;
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

test("text typed before and during hydration is kept", () => {
  const serverHtml = document.createElement("section"); // rendered by the server
  serverHtml.id = "contact";
  serverHtml.innerHTML =
    '<form><input name="name"><input name="email"><textarea name="message"></textarea></form>';
  document.body.append(serverHtml);
  typeInto(serverHtml, "email", "ines@example.com");
  let typing = true;
  // React has rendered the form and not yet hydrated it.
  function TypeMeanwhile() {
    if (typing) typeInto(serverHtml, "name", "Inês");
    typing = false;
    return null;
  }
  const shown = () => [
    screen.getAllByLabelText("Name").at(-1),
    screen.getAllByLabelText("Email").at(-1),
  ];

  const { unmount } = renderApp(
    <>
      <ContactForm enquiry={null} />
      <TypeMeanwhile />
    </>,
  );
  serverHtml.remove();
  expect(shown()[0]).toHaveValue("Inês");
  expect(shown()[1]).toHaveValue("ines@example.com");

  unmount();
  renderApp(<ContactForm enquiry={null} />); // the next form is empty
  expect(shown()[0]).toHaveValue("");
  expect(shown()[1]).toHaveValue("");
});
