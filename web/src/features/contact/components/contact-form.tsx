import { Suspense, useEffect, useRef, useState, type ComponentProps } from "react";
import { zodResolver } from "@hookform/resolvers/zod";
import { useForm } from "react-hook-form";
import { TextAreaField } from "@/components/form/text-area-field";
import { TextField } from "@/components/form/text-field";
import { Button } from "@/components/ui/button";
import {
  CONTACT_EMAIL_MAX,
  CONTACT_MESSAGE_MAX,
  CONTACT_NAME_MAX,
  SCROLL_AFTER_NAVIGATION_MS,
} from "@/lib/constants";
import { useLanguage, useT } from "@/lib/i18n";
import { lazyWithPreload } from "@/lib/lazy-with-preload";
import { focusInView, scrollToSection } from "@/lib/scroll";
import type { TextKey } from "@/lib/texts";
import { preloadToastArea, singleToast } from "@/lib/toast";
import { useSubmitContact } from "@/features/contact/api/submit-contact";
import {
  reasonFor,
  withArtworkLine,
  withoutArtworkLine,
  type Enquiry,
} from "@/features/contact/enquiry";
import { contactSchema, type ContactValues } from "@/features/contact/schema";
import {
  emptyValues,
  useInputBeforeHydration,
  useInputDuringHydration,
} from "@/features/contact/early-input";

// A chunk of its own, because few visitors ask about a work. If the chunk cannot load, the form works without it, because the message
// names the work.
const EnquiryArtwork = lazyWithPreload(() =>
  import("@/features/contact/components/enquiry-artwork").then(
    (m) => m.EnquiryArtwork,
    () => () => null,
  ),
);

// A chunk of its own, because it is needed only after a message was sent. The form stays until the chunk has loaded.
const ContactSuccess = lazyWithPreload(() =>
  import("@/features/contact/components/contact-success").then((m) => m.ContactSuccess),
);

/** Focuses a field of the form and scrolls to it if it is not visible. */
function focusField(form: HTMLFormElement | null, name: keyof ContactValues) {
  const field = form?.elements.namedItem(name);
  if (field instanceof HTMLElement) focusInView(field);
}

/**
 * The contact form of the home page. An enquiry is the work that the visitor asks about. The message then begins with a line that
 * names the work, and is sent with the work's id. After sending, a confirmation replaces the form.
 */
export function ContactForm({ enquiry }: { enquiry: Enquiry | null }) {
  const t = useT();
  const { language } = useLanguage();
  const typed = useInputBeforeHydration();
  const form = useForm<ContactValues>({
    resolver: zodResolver(contactSchema),
    defaultValues: typed,
    shouldFocusError: false, // an effect below focuses the first error with focusInView
  });
  const { errors, submitCount } = form.formState;
  const submit = useSubmitContact();
  const [sending, setSending] = useState(false);
  // The props of the confirmation: the height of the form when its message was sent, and the server's response. Null while the form
  // is shown.
  const [sent, setSent] = useState<Omit<ComponentProps<typeof ContactSuccess>, "onReset"> | null>(
    null,
  );
  // The work that the message in the form is about; null if there is none, or if the visitor has removed it.
  const [enquired, setEnquired] = useState<Enquiry | null>(null);
  const root = useRef<HTMLFormElement>(null);
  const enquiryLine = useRef(""); // the line of `enquired` in the message
  const focusOnReturn = useRef(false);

  // The code of toasts loads early. If the network fails later, a toast must report that, and its code could not load any more.
  useEffect(() => preloadToastArea(), []);
  useInputDuringHydration(typed, form.setValue);

  // An enquiry changes the message once. The refs keep a change of language or of errors from applying it again.
  const { getValues, setValue } = form;
  const latestT = useRef(t);
  const latestErrors = useRef(errors);
  useEffect(() => {
    latestT.current = t;
    latestErrors.current = errors;
  });
  useEffect(() => {
    if (!enquiry) return;
    setSent(null);
    setEnquired(enquiry);
    const line = latestT.current("contact.ask.message", { title: enquiry.title.trim() });
    setValue("message", withArtworkLine(getValues("message"), line, enquiryLine.current));
    enquiryLine.current = line;
    // Waits until the route change has moved the focus, and continues the scrolling that the route change began.
    const timer = setTimeout(() => {
      const message = root.current?.elements.namedItem("message");
      if (!(message instanceof HTMLTextAreaElement)) return;
      scrollToSection("contact", message);
      message.setSelectionRange(message.value.length, message.value.length);
    }, SCROLL_AFTER_NAVIGATION_MS);
    return () => clearTimeout(timer);
  }, [enquiry, getValues, setValue]);

  // Focuses the form when it replaces the confirmation again.
  useEffect(() => {
    if (sent || !focusOnReturn.current) return;
    focusOnReturn.current = false;
    focusField(root.current, "name");
  }, [sent]);

  // In an effect, because the error messages must have rendered: they move the fields.
  useEffect(() => {
    if (submitCount === 0) return;
    const first = (["name", "email", "message"] as const).find(
      (name) => latestErrors.current[name],
    );
    if (first) focusField(root.current, first);
  }, [submitCount]);

  function forgetEnquiry() {
    enquiryLine.current = "";
    setEnquired(null);
  }

  function send(values: ContactValues) {
    if (sending) return;
    setSending(true);
    const height = root.current?.offsetHeight ?? 0;
    const reason = values.reason || reasonFor(values.message, enquired);
    // Not awaited: handleSubmit counts the submission as soon as this returns, which must be before the reset.
    void submit({ ...values, reason, artwork_id: enquired?.id, language, follow: true })
      .then(
        (result) => {
          singleToast({
            title: t("contact.toast.sentTitle"),
            description: t("contact.toast.sentBody"),
          });
          forgetEnquiry();
          form.reset(emptyValues);
          // If the code cannot load, the form stays, empty: the toast says that the message was sent.
          void ContactSuccess.preload().then(
            () => setSent({ height, result }),
            () => undefined,
          );
        },
        () =>
          singleToast({
            title: t("contact.toast.errorTitle"),
            description: t("contact.toast.errorBody"),
            destructive: true,
          }),
      )
      .then(() => setSending(false));
  }

  function removeEnquiry() {
    setValue("message", withoutArtworkLine(getValues("message"), enquiryLine.current));
    forgetEnquiry();
    focusField(root.current, "message");
  }

  if (sent) {
    return (
      <ContactSuccess
        {...sent}
        onReset={() => {
          focusOnReturn.current = true;
          setSent(null);
        }}
      />
    );
  }

  const error = (field: "name" | "email" | "message") => {
    const key = errors[field]?.message;
    return key && t(key as TextKey);
  };
  return (
    // Without scripts the browser submits the form itself, and the server's function responds with a page.
    <form
      ref={root}
      action="/functions/v1/submit-contact"
      method="post"
      noValidate
      onSubmit={(event) => void form.handleSubmit(send)(event)}
    >
      <input type="hidden" name="language" value={language} />
      <h3 className="text-[1.75rem] leading-[1.1] font-[330]">{t("contact.form.title")}</h3>
      {enquired && (
        // Its height is reserved, so that the fields stay where they are when its code has loaded.
        <div className="min-h-30">
          <Suspense>
            <EnquiryArtwork product={enquired} onRemove={sending ? undefined : removeEnquiry} />
          </Suspense>
        </div>
      )}
      <TextField
        {...form.register("name")}
        label={t("contact.form.name")}
        error={error("name")}
        required
        autoComplete="name"
        maxLength={CONTACT_NAME_MAX}
        readOnly={sending}
        className="mt-[30px]"
      />
      <TextField
        {...form.register("email")}
        type="email"
        label={t("contact.form.email")}
        error={error("email")}
        required
        autoComplete="email"
        maxLength={CONTACT_EMAIL_MAX}
        readOnly={sending}
        className="mt-[25px]"
      />
      <TextAreaField
        {...form.register("message")}
        label={t("contact.form.message")}
        error={error("message")}
        required
        maxLength={CONTACT_MESSAGE_MAX}
        readOnly={sending}
        className="mt-[25px] [&_textarea]:h-[170px]"
      />
      {/* Honeypot field: only programs fill it in, because visitors neither see it nor reach it by keyboard
          (docs/product.md, rule 13). */}
      <div aria-hidden="true" className="absolute -left-[9999px] size-px overflow-hidden">
        <input {...form.register("reason")} type="text" tabIndex={-1} autoComplete="off" />
      </div>
      <Button type="submit" loading={sending} className="mt-6 w-full">
        {t(sending ? "contact.form.sending" : "contact.form.send")}
      </Button>
    </form>
  );
}
