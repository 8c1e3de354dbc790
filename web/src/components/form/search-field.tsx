import { useEffect, useRef, useState } from "react";
import { Search } from "lucide-react";
import { Field } from "@/components/form/field";
import { LIST_SEARCH_MAX, LIST_SEARCH_DEBOUNCE_MS } from "@/lib/constants";

type SearchFieldProps = {
  label: string;
  /** The search text in the URL. */
  q: string;
  /**
   * Called LIST_SEARCH_DEBOUNCE_MS after the last key; `replace` is whether to replace the history entry. Must be a
   * stable function, because a new function restarts the wait.
   */
  onChange(part: { q: string }, replace: boolean): void;
  className?: string;
};

/**
 * A search field of an admin list. It reports the text only after a pause in typing, because each report is a request.
 */
export function SearchField({ label, q, onChange, className }: SearchFieldProps) {
  const [text, setText] = useState(q);
  const lastQuery = useRef(q);

  // Back and links change the search text in the URL.
  useEffect(() => {
    if (q === lastQuery.current) return;
    lastQuery.current = q;
    setText(q);
  }, [q]);

  useEffect(() => {
    if (text === lastQuery.current) return;
    const timer = setTimeout(() => {
      // The first letter adds a history entry; the next ones replace it.
      const replace = lastQuery.current !== "";
      lastQuery.current = text;
      onChange({ q: text }, replace);
    }, LIST_SEARCH_DEBOUNCE_MS);
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
