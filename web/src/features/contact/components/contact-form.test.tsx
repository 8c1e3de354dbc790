import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, test } from "vitest";
import { ContactForm } from "@/features/contact/components/contact-form";
import type { Enquiry } from "@/features/contact/enquiry";
import { LanguageToggle } from "@/components/layout/language-toggle";
import type { Language } from "@/lib/boot";
import { attachToastArea, type QueuedToast } from "@/lib/toast";
import { aProduct } from "@/test/a-product";
import { answerRequests } from "@/test/answer-requests";
import { renderApp } from "@/test/render";

let toasts: QueuedToast[];
beforeEach(() => {
  toasts = [];
  return attachToastArea((toast) => toasts.push(toast));
});

const accepted = { json: { success: true, message: "ok" } };

function renderForm(enquiry: Enquiry | null = null, language: Language = "en") {
  renderApp(
    <>
      <LanguageToggle />
      <section id="contact">
        <ContactForm enquiry={enquiry} />
      </section>
    </>,
    { language },
  );
}

async function fillIn() {
  await userEvent.type(screen.getByLabelText("Name"), "  Ana ");
  await userEvent.type(screen.getByLabelText("Email"), "ana@example.com");
  await userEvent.type(screen.getByLabelText("Message"), "A wall of three metres.");
}
const send = () => userEvent.click(screen.getByRole("button", { name: "Send message" }));

test("invalid values: each field has its error, the first has the focus, and nothing is sent", async () => {
  const requests = answerRequests(() => accepted);
  renderForm();
  await send();
  const name = screen.getByLabelText("Name");
  await waitFor(() => expect(name).toHaveFocus());
  expect(name).toHaveAccessibleDescription("Name must be at least 2 characters");
  expect(name).toBeInvalid();
  expect(screen.getByLabelText("Email")).toHaveAccessibleDescription(
    "Please enter a valid email address",
  );
  expect(screen.getByLabelText("Message")).toHaveAccessibleDescription(
    "Message must be at least 10 characters",
  );
  expect(requests).toEqual([]);

  await userEvent.type(name, "Ana");
  await waitFor(() => expect(name).toBeValid());
});

test("shown errors change with the language of the page", async () => {
  renderForm();
  await send();
  await screen.findByText("Name must be at least 2 characters");
  await userEvent.click(screen.getByRole("button", { name: /português/ }));
  expect(screen.getByText("O nome deve ter pelo menos 2 caracteres")).toBeVisible();
  expect(screen.getByText("Indique um endereço de e-mail válido")).toBeVisible();
  expect(screen.getByText("A mensagem deve ter pelo menos 10 caracteres")).toBeVisible();
});

test("success: sends trimmed values with an empty reason, shows a toast and the confirmation, and allows another message", async () => {
  const requests = answerRequests(() => accepted);
  renderForm();
  await fillIn();
  await send();
  const title = await screen.findByRole("heading", { name: "Message Sent Successfully!" });
  await waitFor(() => expect(title).toHaveFocus());
  expect(requests.map(({ method, path, body }) => ({ method, path, body }))).toEqual([
    {
      method: "POST",
      path: "/functions/v1/submit-contact",
      body: {
        name: "Ana",
        email: "ana@example.com",
        message: "A wall of three metres.",
        reason: "",
        language: "en",
        follow: true,
      },
    },
  ]);
  expect(screen.queryByRole("link")).not.toBeInTheDocument();
  expect(toasts).toEqual([
    {
      channel: "single",
      title: "Message sent!",
      description: "Thank you for reaching out. I'll get back to you soon.",
    },
  ]);

  await userEvent.click(screen.getByRole("button", { name: "Send another message" }));
  expect(screen.getByLabelText("Name")).toHaveFocus();
  expect(screen.getByLabelText("Name")).toHaveValue("");
  expect(screen.getByLabelText("Message")).toHaveValue("");
});

test.each([
  [undefined, 0],
  [true, 1],
])(
  "S2-contact-link E-copy-8: the confirmation shows the private link of the response, with a copy: %s",
  async (enquiry_copy, copies) => {
    const enquiry_url = "https://alvor.example/enquiry/c2VjcmV0LXRva2VuLW9mLWE";
    answerRequests(() => ({ json: { success: true, message: "ok", enquiry_url, enquiry_copy } }));
    renderForm(null, "pt");
    await userEvent.type(screen.getByLabelText("Nome"), "Ana");
    await userEvent.type(screen.getByLabelText("E-mail"), "ana@example.com");
    await userEvent.type(screen.getByLabelText("Mensagem"), "Uma parede de três metros.");
    await userEvent.click(screen.getByRole("button", { name: "Enviar mensagem" }));
    expect(await screen.findByRole("link", { name: enquiry_url })).toHaveAttribute(
      "href",
      enquiry_url,
    );
    expect(screen.getByText(/Acompanhe a sua mensagem nesta ligação privada/)).toBeVisible();
    expect(screen.queryAllByText("Segue uma cópia para o seu e-mail.")).toHaveLength(copies);
  },
);

describe.each([
  ["a refusal", { status: 429, json: { success: false, error: "Too many" } }],
  ["an answer that is no success", { json: { success: false, error: "No" } }],
  ["no network", new TypeError("Failed to fetch")],
])("%s", (_, answer) => {
  test("shows a toast, keeps the form, focuses the button, and can be sent again", async () => {
    let works = false;
    answerRequests(() => (works ? accepted : answer));
    renderForm();
    await fillIn();
    await send();
    await waitFor(() =>
      expect(toasts).toEqual([
        {
          channel: "single",
          title: "Error",
          description: "Failed to send message. Please try again.",
          destructive: true,
        },
      ]),
    );
    expect(screen.getByLabelText("Message")).toHaveValue("A wall of three metres.");
    await waitFor(() => expect(screen.getByRole("button", { name: "Send message" })).toHaveFocus());
    works = true;
    await send();
    expect(await screen.findByText("Message Sent Successfully!")).toBeVisible();
  });
});

test("while sending the fields are read-only and the button shows the state", async () => {
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  answerRequests(() => accepted);
  const plain = globalThis.fetch;
  globalThis.fetch = async (...args) => {
    await gate;
    return plain(...args);
  };
  renderForm();
  await fillIn();
  await send();
  expect(await screen.findByRole("button", { name: "Sending…" })).toHaveAttribute(
    "aria-busy",
    "true",
  );
  expect(screen.getByLabelText("Message")).toHaveAttribute("readonly");
  await act(async () => release());
  await screen.findByText("Message Sent Successfully!");
});

test("FN-page-form: the form has an action with the language, for browsers without scripts", () => {
  renderForm(null, "pt");
  const form = screen.getByLabelText("Nome").closest("form")!;
  expect(form).toHaveAttribute("action", "/functions/v1/submit-contact");
  expect(form).toHaveAttribute("method", "post");
  expect(Object.fromEntries(new FormData(form))).toEqual({
    language: "pt",
    name: "",
    email: "",
    message: "",
    reason: "",
  });
});

test("the honeypot field cannot be reached by people; its value is sent", async () => {
  const requests = answerRequests(() => accepted);
  renderForm();
  const trap = document.querySelector<HTMLInputElement>("input[name=reason]")!;
  expect(trap.tabIndex).toBe(-1);
  expect(trap.autocomplete).toBe("off");
  expect(trap.closest("[aria-hidden=true]")).not.toBeNull();
  expect(screen.queryByRole("textbox", { name: /reason/i })).toBeNull();
  await fillIn();
  await userEvent.type(trap, "buy now");
  await send();
  await screen.findByText("Message Sent Successfully!");
  expect(requests[0]!.body).toMatchObject({ reason: "buy now" });
});

describe("an enquiry about a work", () => {
  const work = aProduct({ id: "6a1f0000-0000-4000-8000-000000000001", title: " Romãs " });

  test("S2-contact-3 S2-contact-work: names it, shows it, moves the focus, and sends reason and id", async () => {
    const requests = answerRequests(() => accepted);
    renderForm({ ...work, is_customizable: true });
    const message = screen.getByLabelText("Message");
    expect(message).toHaveValue("About “Romãs”: ");
    await waitFor(() => expect(message).toHaveFocus());
    expect(await screen.findByText("You are asking about")).toBeVisible();
    expect(screen.getByText("Romãs")).toBeVisible();
    expect(document.querySelector("form img")).toHaveAttribute("src", work.image_url);
    await userEvent.type(screen.getByLabelText("Name"), "Ana");
    await userEvent.type(screen.getByLabelText("Email"), "ana@example.com");
    await userEvent.type(message, "how large can it be?");
    await send();
    await screen.findByText("Message Sent Successfully!");
    expect(requests[0]!.body).toEqual({
      name: "Ana",
      email: "ana@example.com",
      message: "About “Romãs”: how large can it be?",
      reason: "commission",
      artwork_id: work.id,
      language: "en",
      follow: true,
    });
    await userEvent.click(screen.getByRole("button", { name: "Send another message" }));
    expect(screen.queryByText("You are asking about")).toBeNull();
  });

  test("S2-contact-work: removed, the message is a plain one", async () => {
    const requests = answerRequests(() => accepted);
    renderForm(work);
    const message = screen.getByLabelText("Message");
    await waitFor(() => expect(message).toHaveFocus());
    await userEvent.type(message, "Hello there, Ana");
    await userEvent.click(await screen.findByRole("button", { name: "Ask about something else" }));
    expect(message).toHaveValue("Hello there, Ana");
    expect(message).toHaveFocus();
    expect(screen.queryByText("You are asking about")).toBeNull();
    await userEvent.type(screen.getByLabelText("Name"), "Ana");
    await userEvent.type(screen.getByLabelText("Email"), "ana@example.com");
    await send();
    await screen.findByText("Message Sent Successfully!");
    expect(requests[0]!.body).toEqual({
      name: "Ana",
      email: "ana@example.com",
      message: "Hello there, Ana",
      reason: "",
      language: "en",
      follow: true,
    });
  });

  test("S2-contact-work: in Portuguese", async () => {
    renderForm(work, "pt");
    expect(screen.getByLabelText("Mensagem")).toHaveValue("Sobre «Romãs»: ");
    expect(await screen.findByText("Pergunta sobre")).toBeVisible();
  });
});
