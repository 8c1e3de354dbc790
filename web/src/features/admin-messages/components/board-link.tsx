import { buttonClasses } from "@/components/ui/button-classes";
import { Link } from "@/components/ui/link";
import { useT } from "@/lib/i18n";

/** The link from the list of messages to the board (the page with the commissions as cards, in a column for each stage). */
export function BoardLink() {
  const t = useT();
  return (
    <Link
      to="/admin/contact-messages/board"
      className={buttonClasses({ variant: "outline", size: "sm", className: "self-start" })}
    >
      {t("board.link")}
    </Link>
  );
}
