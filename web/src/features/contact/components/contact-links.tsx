import { ArrowUpRight, Clock } from "lucide-react";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import { instagramHandle, instagramUrl, whatsappUrl } from "@/lib/site-links";
import { useSiteText } from "@/lib/site-text";

/** Links to the channels that the owner has set (Instagram, WhatsApp, email), and the usual response time. */
export function ContactLinks() {
  const t = useT();
  const { site } = useBoot();
  const responseTime = useSiteText("contact.responseTime");
  const channels = [
    { name: t("contact.instagram"), url: instagramUrl(site), detail: instagramHandle(site) },
    { name: t("contact.whatsapp"), url: whatsappUrl(site), detail: t("contact.whatsappHint") },
    { name: t("contact.email"), url: site.email && `mailto:${site.email}`, detail: site.email },
  ].filter((channel) => channel.url);

  return (
    <>
      {channels.length > 0 && (
        <>
          <h3 className="label-text mt-[43px]">{t("contact.waysToReach")}</h3>
          <ul className="border-divider mt-[17px] border-t">
            {channels.map(({ name, url, detail }) => (
              <li key={name} className="border-divider border-b">
                <a
                  href={url}
                  {...(url?.startsWith("http") && { target: "_blank", rel: "noopener noreferrer" })}
                  className="hover:border-indigo -mb-px flex min-h-[72px] items-center justify-between gap-4 border-b-4 border-transparent pt-0.5 pr-1 transition-colors duration-200"
                >
                  <span className="min-w-0">
                    <span className="block text-[1.375rem] leading-[1.2]">{name}</span>
                    <span className="text-ink2 block text-sm">{detail}</span>
                  </span>
                  <ArrowUpRight
                    aria-hidden="true"
                    size={20}
                    strokeWidth={1.75}
                    className="flex-none"
                  />
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
      {responseTime.text && (
        <p className="text-ink2 mt-[22px] flex items-center gap-2.5 text-sm">
          <Clock aria-hidden="true" size={20} strokeWidth={1.5} className="flex-none" />
          <span lang={responseTime.lang}>{responseTime.text}</span>
        </p>
      )}
    </>
  );
}
