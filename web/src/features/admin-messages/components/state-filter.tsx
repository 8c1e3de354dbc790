import { useStateCounts } from "@/features/admin-messages/api/count-states";
import { CONVERSATION_STATES, type MessageView } from "@/features/admin-messages/message-view";
import { cn } from "@/lib/cn";
import { useT } from "@/lib/i18n";

type StateFilterProps = {
  /** The chosen state; "" for all conversations. */
  state: MessageView["state"];
  onChange(state: MessageView["state"]): void;
};

/**
 * The buttons that filter the inbox by the state of conversations (messages with their replies). Each shows how many conversations
 * are in its state.
 */
export function StateFilter({ state, onChange }: StateFilterProps) {
  const t = useT();
  const counts = useStateCounts().data;
  return (
    <div role="group" aria-label={t("messages.state")} className="mb-6 flex flex-wrap gap-x-1">
      {(["", ...CONVERSATION_STATES] as const).map((choice) => (
        <button
          key={choice}
          type="button"
          aria-pressed={choice === state}
          onClick={() => onChange(choice)}
          className={cn(
            "nav-text min-h-12 border-b-6 px-3 pt-1.5 transition-colors duration-200",
            choice === state ? "border-indigo text-ink" : "border-line text-ink2 hover:text-ink",
          )}
        >
          {choice ? t(`messages.state.${choice}`) : t("messages.allStates")}
          {choice && counts && (
            <>
              {" "}
              <span className="text-badge lining-nums tabular-nums">{counts[choice]}</span>
            </>
          )}
        </button>
      ))}
    </div>
  );
}
