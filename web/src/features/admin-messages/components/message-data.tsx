import { ArrowLeft } from "lucide-react";
import { useExportMessages } from "@/features/admin-messages/api/export-messages";
import { AddressSearch } from "@/features/admin-messages/components/address-search";
import { BoxLink } from "@/features/admin-messages/components/box-link";
import { AdminGroup } from "@/components/layout/admin-group";
import { AdminPage } from "@/components/layout/admin-page";
import { Button } from "@/components/ui/button";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";

/** The part of the messages page where the owner exports all messages, and exports or erases everything about an email address. */
export function MessageData() {
  const t = useT();
  return (
    <AdminPage
      title={t("messages.data.title")}
      action={
        <BoxLink>
          <ArrowLeft aria-hidden="true" size={20} strokeWidth={1.75} />
          {t("messages.back")}
        </BoxLink>
      }
    >
      <AdminGroup title={t("messages.data.all")} intro={t("messages.data.allIntro")}>
        <div className="flex flex-wrap gap-3">
          <ExportButton format="csv" label={t("messages.data.csv")} />
          <ExportButton format="json" label={t("messages.data.json")} />
        </div>
      </AdminGroup>
      <AdminGroup title={t("messages.data.address")} intro={t("messages.data.addressIntro")}>
        <AddressSearch />
      </AdminGroup>
    </AdminPage>
  );
}

/** A button that saves all messages as a file of this format. */
function ExportButton({ format, label }: { format: "csv" | "json"; label: string }) {
  const t = useT();
  const { mutateAsync, isPending } = useExportMessages(format);
  return (
    <Button
      variant="outline"
      size="sm"
      loading={isPending}
      onClick={() =>
        void mutateAsync().catch((error: unknown) =>
          stackedToast({
            title: t("messages.data.toast.exportError"),
            description: messageOf(error),
            destructive: true,
          }),
        )
      }
    >
      {label}
    </Button>
  );
}
