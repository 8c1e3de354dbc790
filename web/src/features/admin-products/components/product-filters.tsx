import { useEffect, useRef, useState } from "react";
import { Search } from "lucide-react";
import { FLAGS, QUERY_MAX, SORTS, type ListView } from "@/features/admin-products/list-view";
import { SelectField } from "@/components/form/select-field";
import { Field } from "@/components/form/field";
import { ARTWORK_TYPES, SEARCH_PAUSE_MS } from "@/lib/constants";
import { useT } from "@/lib/i18n";

type ProductFiltersProps = {
  view: ListView;
  onChange(part: Partial<ListView>, replace?: boolean): void;
};

export function ProductFilters({ view, onChange }: ProductFiltersProps) {
  const t = useT();
  return (
    <div
      role="search"
      aria-label={t("products.find")}
      className="mb-6 grid items-start gap-x-4 gap-y-4 grid-cols-2 lg:grid-cols-[minmax(0,2fr)_1fr_1fr_1fr]"
    >
      <SearchField q={view.q} onChange={onChange} />
      <SelectField
        label={t("products.type")}
        value={view.type}
        onChange={(event) => onChange({ type: event.target.value as ListView["type"] })}
      >
        <option value="">{t("products.allTypes")}</option>
        {ARTWORK_TYPES.map((type) => (
          <option key={type} value={type}>
            {t(`type.${type}`)}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={t("products.show")}
        value={view.flag}
        onChange={(event) => onChange({ flag: event.target.value as ListView["flag"] })}
      >
        <option value="">{t("products.showAll")}</option>
        {FLAGS.map((flag) => (
          <option key={flag} value={flag}>
            {t(`products.flag.${flag}`)}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={t("products.sort")}
        className="max-lg:col-span-2"
        value={view.sort}
        onChange={(event) => onChange({ sort: event.target.value as ListView["sort"] })}
      >
        {SORTS.map((sort) => (
          <option key={sort} value={sort}>
            {t(`products.sort.${sort}`)}
          </option>
        ))}
      </SelectField>
    </div>
  );
}

/** Asks after a short pause, so that a word is one question and not six. */
function SearchField({ q, onChange }: { q: string } & Pick<ProductFiltersProps, "onChange">) {
  const t = useT();
  const [text, setText] = useState(q);
  const asked = useRef(q);

  // Back and links change the address without this field.
  useEffect(() => {
    if (q === asked.current) return;
    asked.current = q;
    setText(q);
  }, [q]);

  useEffect(() => {
    if (text === asked.current) return;
    const timer = setTimeout(() => {
      // The first letter is a step that Back can take; the next ones only correct it.
      const replace = asked.current !== "";
      asked.current = text;
      onChange({ q: text }, replace);
    }, SEARCH_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, onChange]);

  return (
    <Field label={t("products.search")} className="max-lg:col-span-2">
      {(control) => (
        <div className="relative">
          <Search
            aria-hidden="true"
            size={20}
            strokeWidth={1.5}
            className="text-ink2 pointer-events-none absolute top-1/2 left-3.5 -translate-y-1/2"
          />
          <input
            {...control}
            type="search"
            value={text}
            maxLength={QUERY_MAX}
            autoComplete="off"
            className="field pl-11!"
            onChange={(event) => setText(event.target.value)}
          />
        </div>
      )}
    </Field>
  );
}
