import { useRef } from "react";
import { ChevronDown } from "lucide-react";
import * as Menu from "radix-ui/dropdown-menu";
import { useSearchParams } from "react-router";
import { useSavedReplies } from "@/features/admin-messages/api/saved-replies";
import { savedText } from "@/features/admin-messages/saved-text";
import { Button } from "@/components/ui/button";
import { Link } from "@/components/ui/link";
import { useT } from "@/lib/i18n";

type SavedReplyMenuProps = {
  /** The language of the message. If the saved reply has a text in this language, that text is inserted. */
  language: "en" | "pt";
  /** The visitor's name, which replaces the placeholder {name} in a saved reply. */
  name: string;
  /** Called when the owner chooses a saved reply, with its text. The form inserts the text. */
  onInsert(text: string): void;
  /** Called later, when the menu has closed after an insertion. The form moves the focus to the text. */
  onInserted(): void;
};

/** The classes of a menu item. */
const itemClassName =
  "data-highlighted:bg-indigo-tint nav-text flex min-h-[46px] cursor-pointer items-center px-4 py-2 outline-none";

/**
 * A menu of the saved replies (texts that the owner inserts into replies). Each item inserts a saved reply into the form. The last
 * item opens the page on which the owner edits the saved replies.
 */
export function SavedReplyMenu({ language, name, onInsert, onInserted }: SavedReplyMenuProps) {
  const t = useT();
  const { data: replies } = useSavedReplies();
  const [search] = useSearchParams();
  const manageParams = new URLSearchParams({ box: "replies" });
  const pageLanguage = search.get("lang");
  if (pageLanguage) manageParams.set("lang", pageLanguage);
  // With a pathname, because the board shows this menu too.
  const managePage = { pathname: "/admin/contact-messages", search: manageParams.toString() };
  // Whether a reply was inserted, so that the focus goes to the text when the menu closes.
  const inserted = useRef(false);
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger asChild>
        <Button variant="outline" size="sm">
          {t("messages.saved.title")}
          <ChevronDown aria-hidden="true" size={18} strokeWidth={1.75} />
        </Button>
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content
          align="start"
          sideOffset={8}
          collisionPadding={12}
          onCloseAutoFocus={(event) => {
            if (!inserted.current) return;
            inserted.current = false;
            event.preventDefault();
            onInserted();
          }}
          className="bg-pop pop-shadow border-band data-[state=open]:animate-fade-in z-60 max-h-[min(24rem,var(--radix-dropdown-menu-content-available-height))] w-[min(20rem,calc(100vw-24px))] overflow-y-auto rounded-sm border-b-6"
        >
          {replies?.map((reply) => (
            <Menu.Item
              key={reply.id}
              className={itemClassName}
              onSelect={() => {
                inserted.current = true;
                onInsert(savedText(reply, language, name));
              }}
            >
              <span className="min-w-0 break-words">{reply.title}</span>
            </Menu.Item>
          ))}
          {replies && replies.length > 0 && <Menu.Separator className="bg-line h-px" />}
          <Menu.Item asChild className={itemClassName}>
            <Link to={managePage}>{t("messages.saved.manage")}</Link>
          </Menu.Item>
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
}
