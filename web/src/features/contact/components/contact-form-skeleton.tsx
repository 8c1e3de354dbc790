import { Skeleton } from "@/components/ui/skeleton";
import { useT } from "@/lib/i18n";
import { useInputBeforeHydration } from "@/features/contact/early-input";

/** The placeholder of the contact form while its code loads; it has the form's size. */
export function ContactFormSkeleton() {
  const t = useT();
  useInputBeforeHydration();
  return (
    <div aria-busy="true" className="contact-panel">
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
