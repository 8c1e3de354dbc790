import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { ContactForm } from "@/features/contact/components/contact-form";
import { renderApp } from "@/test/render";

function type(drawn: HTMLElement, name: string, text: string): void {
  const field = drawn.querySelector<HTMLInputElement>(`[name=${name}]`)!;
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

test("text typed before and during hydration is kept", () => {
  const drawn = document.createElement("section"); // rendered by the server
  drawn.id = "contact";
  drawn.innerHTML =
    '<form><input name="name"><input name="email"><textarea name="message"></textarea></form>';
  document.body.append(drawn);
  type(drawn, "email", "ines@example.com");
  let typing = true;
  // React has rendered the form and not yet hydrated it.
  function TypeMeanwhile() {
    if (typing) type(drawn, "name", "Inês");
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
  drawn.remove();
  expect(shown()[0]).toHaveValue("Inês");
  expect(shown()[1]).toHaveValue("ines@example.com");

  unmount();
  renderApp(<ContactForm enquiry={null} />); // the next form is empty
  expect(shown()[0]).toHaveValue("");
  expect(shown()[1]).toHaveValue("");
});
