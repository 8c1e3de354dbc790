import type { AddressData } from "@/features/admin-messages/api/address-data";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";

type AddressFindingsProps = {
  data: AddressData;
  /** Whether `data` says what was erased. If not, `data` says what is stored. */
  erased?: boolean;
};

/**
 * Lists where the site stores data about an email address, and how much. After the owner has erased the data, lists what was erased.
 */
export function AddressFindings({ data, erased = false }: AddressFindingsProps) {
  const t = useT();
  const { backupDays } = useBoot();
  const { address } = data;
  const places = data.places.filter(({ count }) => count > 0);
  return (
    <div className="max-w-[42em]">
      {places.length === 0 ? (
        <p className="wrap-anywhere">{t("messages.data.nothing", { address })}</p>
      ) : (
        <>
          <p className="font-[560] wrap-anywhere">
            {t(erased ? "messages.data.erased" : "messages.data.found", { address })}
          </p>
          <ul className="border-line mt-3 border-t">
            {places.map(({ name, count }) => (
              <li key={name} className="border-line flex justify-between gap-4 border-b py-2">
                <span>{t(`messages.data.place.${name}`)}</span>
                <span className="tabular-nums">{count}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {erased && places.length > 0 && backupDays ? (
        <p className="mt-3">{t("messages.data.erasedBackups", { n: backupDays })}</p>
      ) : null}
      {data.settings && <p className="mt-3">{t("messages.data.settings")}</p>}
    </div>
  );
}
