import { useEffect, useRef, useState } from "react";
import { Search } from "lucide-react";
import { Field } from "@/components/form/field";
import { LIST_SEARCH_MAX, LIST_SEARCH_PAUSE_MS } from "@/lib/constants";

type SearchFieldProps = {
  label: string;
  q: string;
  /** The same function in each render, or the pause begins anew. */
  onChange(part: { q: string }, replace: boolean): void;
  className?: string;
};

/** Asks after a short pause, so that a word is one question and not six. */
export function SearchField({ label, q, onChange, className }: SearchFieldProps) {
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
    }, LIST_SEARCH_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, onChange]);

  return (
    <Field label={label} className={className}>
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
            maxLength={LIST_SEARCH_MAX}
            autoComplete="off"
            className="field pl-11!"
            onChange={(event) => setText(event.target.value)}
          />
        </div>
      )}
    </Field>
  );
}
