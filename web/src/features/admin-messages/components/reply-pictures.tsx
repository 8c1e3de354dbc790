import { useState } from "react";
import { useConversationPicture } from "@/lib/conversation-picture";
import { DialogClose, DialogContent, DialogRoot } from "@/components/ui/dialog";
import { useT } from "@/lib/i18n";
import type { ConversationPicture } from "@/lib/types";

/** The largest widths in which pictures are fetched, in pixels: for thumbnails, and for the dialog. */
const THUMBNAIL_WIDTH = 320;
const DIALOG_WIDTH = 2560;

/** The pictures of a reply in a conversation, as thumbnails. A click opens a picture in a dialog. */
export function ReplyPictures({ pictures }: { pictures: ConversationPicture[] }) {
  const t = useT();
  // The picture in the dialog; undefined while the dialog is closed.
  const [opened, setOpened] = useState<ConversationPicture>();
  if (pictures.length === 0) return null;
  const alt = (picture: ConversationPicture) =>
    t("messages.picture", { n: String(picture.position), all: String(pictures.length) });
  return (
    <ul className="mt-3 flex flex-wrap gap-3">
      {pictures.map((picture) => (
        <li key={picture.id}>
          <button type="button" onClick={() => setOpened(picture)}>
            <Picture
              picture={picture}
              width={THUMBNAIL_WIDTH}
              alt={alt(picture)}
              className="h-24"
            />
          </button>
        </li>
      ))}
      <DialogRoot open={opened !== undefined} onOpenChange={() => setOpened(undefined)}>
        {opened && (
          <DialogContent label={alt(opened)} className="w-fit min-w-40 max-w-full px-6 pt-16 pb-6">
            <Picture
              picture={opened}
              width={DIALOG_WIDTH}
              alt={alt(opened)}
              className="max-h-[80dvh]"
            />
            <DialogClose />
          </DialogContent>
        )}
      </DialogRoot>
    </ul>
  );
}

/** A picture of a conversation, fetched at most `width` pixels wide. */
function Picture({
  picture,
  width,
  alt,
  className,
}: {
  picture: ConversationPicture;
  width: number;
  alt: string;
  className: string;
}) {
  const url = useConversationPicture(picture.name, width);
  return (
    <img
      src={url}
      alt={alt}
      width={picture.width}
      height={picture.height}
      className={`w-auto max-w-full object-contain ${className}`}
    />
  );
}
