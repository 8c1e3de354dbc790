import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { ContactForm } from "@/features/contact/components/contact-form";
import { attachToastArea, type QueuedToast } from "@/lib/toast";
import { aProduct } from "@/test/a-product";
import { answerRequests } from "@/test/answer-requests";
import { renderApp } from "@/test/render";

// The chunks that load after the form fail, as without a network.
const failed = vi.hoisted(() => () => {
  throw new TypeError("Failed to fetch dynamically imported module");
});
vi.mock("@/features/contact/components/enquiry-artwork", failed);
vi.mock("@/features/contact/components/contact-success", failed);

test("S2-contact-work: an enquiry can be sent although the code of later parts cannot load", async () => {
  const toasts: QueuedToast[] = [];
  attachToastArea((toast) => toasts.push(toast));
  const requests = answerRequests(() => ({ json: { success: true, message: "ok" } }));
  const work = aProduct({ id: "6a1f0000-0000-4000-8000-000000000001", title: "Romãs" });
  renderApp(
    <section id="contact">
      <ContactForm enquiry={work} />
    </section>,
  );
  const message = screen.getByLabelText("Message");
  await waitFor(() => expect(message).toHaveFocus());
  await userEvent.type(message, "how large is it?");
  await userEvent.type(screen.getByLabelText("Name"), "Ana");
  await userEvent.type(screen.getByLabelText("Email"), "ana@example.com");
  await userEvent.click(screen.getByRole("button", { name: "Send message" }));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Message sent!" }]));
  expect(requests[0]!.body).toMatchObject({ artwork_id: work.id });
  expect(message).toHaveValue("");
  expect(await screen.findByRole("button", { name: "Send message" })).toBeVisible();
});
