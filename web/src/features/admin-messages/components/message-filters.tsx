import { useEffect, useRef, useState } from "react";
import { Search } from "lucide-react";
import type { MessageView } from "@/features/admin-messages/message-view";
import { Field } from "@/components/form/field";
import { SelectField } from "@/components/form/select-field";
import {
  CONTACT_REASONS,
  CONTACT_STATUSES,
  MESSAGE_SEARCH_MAX,
  MESSAGE_SEARCH_PAUSE_MS,
} from "@/lib/constants";
import { useT } from "@/lib/i18n";

type MessageFiltersProps = {
  view: MessageView;
  onChange(part: Partial<MessageView>, replace?: boolean): void;
};

export function MessageFilters({ view, onChange }: MessageFiltersProps) {
  const t = useT();
  return (
    <div
      role="search"
      aria-label={t("messages.find")}
      className="mb-6 grid grid-cols-2 items-start gap-4 md:grid-cols-[minmax(0,2fr)_1fr_1fr]"
    >
      <SearchField q={view.q} onChange={onChange} />
      <SelectField
        label={t("messages.status")}
        value={view.status}
        onChange={(event) => onChange({ status: event.target.value as MessageView["status"] })}
      >
        <option value="">{t("messages.allStatuses")}</option>
        {CONTACT_STATUSES.map((status) => (
          <option key={status} value={status}>
            {t(`status.${status}`)}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={t("messages.reason")}
        value={view.reason}
        onChange={(event) => onChange({ reason: event.target.value as MessageView["reason"] })}
      >
        <option value="">{t("messages.allReasons")}</option>
        {CONTACT_REASONS.map((reason) => (
          <option key={reason} value={reason}>
            {t(`reason.${reason}`)}
          </option>
        ))}
      </SelectField>
    </div>
  );
}

/** Asks after a short pause, so that a word is one question and not six. */
function SearchField({ q, onChange }: { q: string } & Pick<MessageFiltersProps, "onChange">) {
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
    }, MESSAGE_SEARCH_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, onChange]);

  return (
    <Field label={t("messages.search")} className="max-md:col-span-2">
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
            maxLength={MESSAGE_SEARCH_MAX}
            autoComplete="off"
            className="field pl-11!"
            onChange={(event) => setText(event.target.value)}
          />
        </div>
      )}
    </Field>
  );
}
