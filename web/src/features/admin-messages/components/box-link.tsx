import type { ReactNode } from "react";
import { useSearchParams } from "react-router";
import { buttonClasses } from "@/components/ui/button-classes";
import { Link } from "@/components/ui/link";

type BoxLinkProps = {
  /**
   * The part of the messages page that the link opens, as the value of ?box= in the URL:
   *  - quarantine: the messages that look like spam
   *  - data: everything that the site stores about an email address
   *  - replies: the saved replies
   *
   * Without it the link opens the inbox.
   */
  box?: "quarantine" | "data" | "replies";
  children: ReactNode;
};

/** A link from one part of the messages page to another. It keeps the language (?lang=) of the current URL. */
export function BoxLink({ box, children }: BoxLinkProps) {
  const [search] = useSearchParams();
  const params = new URLSearchParams(box && { box });
  const language = search.get("lang");
  if (language) params.set("lang", language);
  return (
    <Link
      to={{ search: params.toString() }}
      className={buttonClasses({ variant: "outline", size: "sm", className: "self-start" })}
    >
      {children}
    </Link>
  );
}
