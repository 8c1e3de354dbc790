import { Badge } from "@/components/ui/badge";
import { useT } from "@/lib/i18n";
import type { ContactStatus } from "@/lib/types";

/** The colours of the badge for each status. */
const tones = { new: "ochre", read: "outline", replied: "green" } as const;

/** The status of a message (new, read or replied) as a coloured label. */
export function StatusBadge({ status }: { status: ContactStatus }) {
  const t = useT();
  return <Badge tone={tones[status]}>{t(`status.${status}`)}</Badge>;
}
