import { Check, ChevronDown } from "lucide-react";
import * as Menu from "radix-ui/dropdown-menu";
import { StatusBadge } from "@/features/admin-messages/components/status-badge";
import { CONTACT_STATUSES } from "@/lib/constants";
import { useT } from "@/lib/i18n";
import type { ContactStatus } from "@/lib/types";

type StatusMenuProps = { status: ContactStatus; onChange(status: ContactStatus): void };

/** The menu with which the owner changes the status of a message. The button that opens it is the status badge. */
export function StatusMenu({ status, onChange }: StatusMenuProps) {
  const t = useT();
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger
        aria-label={t("messages.changeStatus", { status: t(`status.${status}`) })}
        // The badge is 26 px high. A transparent pseudo-element enlarges the touch target to 44 px.
        className="relative -mx-1 inline-flex items-center gap-1 rounded-sm px-1 before:absolute before:-inset-x-1 before:-inset-y-[9px]"
      >
        <StatusBadge status={status} />
        <ChevronDown aria-hidden="true" size={18} strokeWidth={1.75} className="text-ink2" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content
          align="start"
          sideOffset={8}
          className="bg-pop pop-shadow border-band data-[state=open]:animate-fade-in z-60 w-[232px] rounded-sm border-b-6"
        >
          <Menu.RadioGroup
            value={status}
            onValueChange={(value) => {
              const chosen = CONTACT_STATUSES.find((known) => known === value);
              if (chosen && chosen !== status) onChange(chosen);
            }}
          >
            {CONTACT_STATUSES.map((choice) => (
              <Menu.RadioItem
                key={choice}
                value={choice}
                className="data-highlighted:bg-indigo-tint nav-text flex h-[46px] cursor-pointer items-center justify-between px-4 outline-none"
              >
                {t(`status.${choice}`)}
                <Menu.ItemIndicator>
                  <Check aria-hidden="true" size={20} strokeWidth={1.75} className="text-indigo" />
                </Menu.ItemIndicator>
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
}
