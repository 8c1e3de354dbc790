import { useEffect, useRef, useState } from "react";
import { Search } from "lucide-react";
import { Field } from "@/components/form/field";
import { LIST_SEARCH_MAX, LIST_SEARCH_DEBOUNCE_MS } from "@/lib/constants";

type SearchFieldProps = {
  label: string;
  /** The search text in the URL (?q=). */
  q: string;
  /**
   * Writes the typed text to the URL; called after LIST_SEARCH_DEBOUNCE_MS without typing. `replace` says whether to replace the
   * current history entry instead of adding one. Pass a stable function, because a new function restarts the wait.
   */
  onChange(change: { q: string }, options: { replace: boolean }): void;
  className?: string;
};

/**
 * A search field of an admin list. It reports the text only after a pause in typing, because each reported text is searched on the
 * server.
 */
export function SearchField({ label, q, onChange, className }: SearchFieldProps) {
  const [text, setText] = useState(q);
  // The text that is in the URL, or will be there soon because it was just reported.
  const urlText = useRef(q);

  // Shows the search text of the URL after Back or a link has changed it.
  useEffect(() => {
    if (q === urlText.current) return;
    urlText.current = q;
    setText(q);
  }, [q]);

  // Reports the typed text after the pause.
  useEffect(() => {
    if (text === urlText.current) return;
    const timer = setTimeout(() => {
      // The first search adds a history entry. Later changes of the search text replace that entry.
      const replace = urlText.current !== "";
      urlText.current = text;
      onChange({ q: text }, { replace });
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
