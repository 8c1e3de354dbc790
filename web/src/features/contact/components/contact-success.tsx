import { useEffect, useRef } from "react";
import { Check } from "lucide-react";
import { Button } from "@/components/ui/button";
import { useT } from "@/lib/i18n";
import { focusInView } from "@/lib/scroll";
import { useSiteText } from "@/lib/site-text";
import { addTexts } from "@/lib/texts";
import en from "@/locales/sent/en.json";
import pt from "@/locales/sent/pt.json";

addTexts({ en, pt });

type ContactSuccessProps = {
  /** The height of the form in CSS pixels. The confirmation is at least as high, so that nothing below moves. */
  height: number;
  /** The server's response: the URL at which the visitor can follow the message, and whether the site mails copies to visitors. */
  result: { enquiry_url?: string; enquiry_copy?: boolean };
  /** Called when the visitor wants to write another message. The caller then shows the form instead. */
  onReset(): void;
};

/** The confirmation that replaces the contact form after sending. */
export function ContactSuccess({ height, result, onReset }: ContactSuccessProps) {
  const t = useT();
  const { enquiry_url: link, enquiry_copy: copy } = result;
  const body = useSiteText("contact.success.body");
  const title = useRef<HTMLHeadingElement>(null);
  // The clicked button is gone. Without this effect the focus would be lost, and screen readers would not announce the confirmation.
  useEffect(() => {
    if (title.current) focusInView(title.current);
  }, []);
  return (
    <div className="flex flex-col items-start justify-center" style={{ minHeight: height }}>
      <span aria-hidden="true" className="bg-indigo text-on-indigo grid size-16 place-items-center">
        <Check size={28} strokeWidth={1.75} />
      </span>
      <h3
        ref={title}
        tabIndex={-1}
        className="mt-4 text-[clamp(2rem,1.6rem+1.4vw,2.875rem)] leading-[1.1] font-[300] tracking-[-0.012em] focus-visible:outline-none"
      >
        {t("contact.success.title")}
      </h3>
      {body.text && (
        <p lang={body.lang} className="mt-4 max-w-[33em] whitespace-pre-line">
          {body.text}
        </p>
      )}
      {link && (
        <p className="mt-4 max-w-[33em]">
          {t("contact.success.link")}
          <a href={link} className="text-link mt-2 block wrap-anywhere">
            {link}
          </a>
        </p>
      )}
      {copy && <p className="mt-4 max-w-[33em]">{t("contact.success.copy")}</p>}
      <Button variant="outline" className="mt-[17px]" onClick={onReset}>
        {t("contact.success.again")}
      </Button>
    </div>
  );
}
