import type { MessageView } from "@/features/admin-messages/message-view";
import { SearchField } from "@/components/form/search-field";
import { SelectField } from "@/components/form/select-field";
import { CONTACT_REASONS, CONTACT_STATUSES } from "@/lib/constants";
import { useT } from "@/lib/i18n";

type MessageFiltersProps = {
  view: MessageView;
  /** Changes a part of the view, which is in the URL. If `replace` is true, the browser's history gets no new entry. */
  onChange(part: Partial<MessageView>, options?: { replace: boolean }): void;
};

/** The search field of the inbox, and its filters by status and by reason. */
export function MessageFilters({ view, onChange }: MessageFiltersProps) {
  const t = useT();
  return (
    <div
      role="search"
      aria-label={t("messages.find")}
      className="mb-6 grid grid-cols-2 items-start gap-4 md:grid-cols-[minmax(0,2fr)_1fr_1fr]"
    >
      <SearchField
        label={t("messages.search")}
        q={view.q}
        onChange={onChange}
        className="max-md:col-span-2"
      />
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
