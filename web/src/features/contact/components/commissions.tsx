import { useId } from "react";
import type { CommissionSettings, CommissionTexts } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import { useOwnerText } from "@/lib/site-text";
import { addTexts } from "@/lib/texts";
import en from "@/locales/commissions/en.json";
import pt from "@/locales/commissions/pt.json";

addTexts({ en, pt });

/**
 * Says whether the artist takes commissions (makes works to order), and on which terms. Texts that the owner has not written are
 * omitted. `free` is the number of free slots (a slot is room for one commission); undefined if there is no limit.
 */
export function Commissions({ state, texts, free }: CommissionSettings) {
  const t = useT();
  const id = useId();
  if (!state) return null;
  return (
    // On wide screens the second row of the contact section, below the form.
    <section
      aria-labelledby={id}
      className="border-ink border-t-2 pt-5 lg:col-span-2 lg:row-start-2"
    >
      <h3 id={id} className="text-[1.75rem] leading-[1.1] font-[330]">
        {t(`commissions.${state}`)}
      </h3>
      <p className="text-ink2 mt-2 max-w-[33em]">
        {free && `${t(free === 1 ? "commissions.free1" : "commissions.free", { n: free })} `}
        {t(`commissions.${state}Hint`)}
      </p>
      <dl className="mt-6 grid gap-x-[7vw] gap-y-6 md:grid-cols-2 lg:grid-cols-[5fr_6fr]">
        <Text name="accepts" texts={texts} />
        <Text name="declines" texts={texts} />
        <Text name="prices" texts={texts} />
        <Text name="leadTime" texts={texts} />
        <Text name="steps" texts={texts} />
        <Text name="terms" texts={texts} />
      </dl>
    </section>
  );
}

type TextProps = { name: keyof CommissionTexts; texts: CommissionSettings["texts"] };

/** One of the texts with its heading. The steps are a list with one item for each line. */
function Text({ name, texts }: TextProps) {
  const t = useT();
  const { text, lang } = useOwnerText(texts, name);
  if (!text) return null;
  return (
    <div className="min-w-0 max-w-[33em]">
      <dt className="label-text">{t(`commissions.${name}`)}</dt>
      <dd lang={lang} className="mt-1 whitespace-pre-line">
        {name === "steps" ? (
          <ol className="list-decimal pl-5">
            {text
              .split("\n")
              .filter((line) => line.trim() !== "")
              .map((line, n) => (
                <li key={n}>{line}</li>
              ))}
          </ol>
        ) : (
          text
        )}
      </dd>
    </div>
  );
}
