import { Skeleton } from "@/components/ui/skeleton";
import { useT } from "@/lib/i18n";
import { useTypedBefore } from "@/features/contact/typed-before";

/** The form's outline at its final size, while its code is on the way. */
export function ContactFormWaiting() {
  const t = useT();
  useTypedBefore();
  return (
    <div aria-busy="true">
      <h3 className="text-[1.75rem] leading-[1.1] font-[330]">{t("contact.form.title")}</h3>
      {[52, 52, 170].map((height, n) => (
        <div key={n} className={n === 0 ? "mt-[30px]" : "mt-[25px]"}>
          <div className="mb-2 h-6" />
          <div style={{ height }}>
            <Skeleton className="h-full" />
          </div>
        </div>
      ))}
      <Skeleton className="mt-6 h-12" />
    </div>
  );
}
