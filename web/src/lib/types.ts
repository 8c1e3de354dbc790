// The types of the server's tables, functions and settings. They are type aliases instead of interfaces, because the generics of
// supabase-js need an index signature, which interfaces lack. A revision is a row as it was before a change or a deletion.

import type { Language, SiteTexts } from "@/lib/boot";
import type { ArtworkType } from "@/lib/gallery-settings";
import type { MediaInfo } from "@/lib/media";

export type { ArtworkType };

/** The computed column `media` has the metadata of the row's files. A row has it only if the query selects it by name. */
type WithMedia = { media?: MediaInfo };

/** The reason of a message. */
export type ContactReason = "general" | "commission" | "purchase" | "collaboration";
/** The status of a message. */
export type ContactStatus = "new" | "read" | "replied";
/** The state of a conversation, which follows from the status, the last reply and the owner's mark "done". */
export type ConversationState = "unread" | "waiting_me" | "waiting_them" | "done";

/** A work: a row of the table products. */
export type Product = {
  id: string;
  title: string;
  description: string | null;
  artwork_type: ArtworkType;
  /** The URL of the main picture. */
  image_url: string | null;
  /** The URLs of further pictures. */
  image_gallery: string[];
  /** The URLs of videos. */
  video_gallery: string[];
  is_featured: boolean;
  in_stock: boolean;
  dimensions: string | null;
  medium: string | null;
  /** YYYY-MM-DD */
  creation_date: string | null;
  tags: string[];
  is_customizable: boolean;
  seo_meta_title: string | null;
  seo_meta_desc: string | null;
  price: number;
  created_at: string;
  /** When visitors see the work: null for a draft, in the future for a scheduled work. Rows of old revisions lack it. */
  published_at?: string | null;
  /** Whether visitors see the work now. A row has it only if the query selects it by name. */
  is_published?: boolean;
  /** The order key of the work: a text by whose bytes works are ordered by hand. A row has it only if the query selects it by name. */
  position?: string;
  /** When the row was last written; null for a row older than this column. */
  updated_at?: string | null;
  /** The texts in Portuguese; those above are in English. Rows of old revisions lack them. */
  title_pt?: string | null;
  description_pt?: string | null;
  dimensions_pt?: string | null;
  medium_pt?: string | null;
  seo_meta_title_pt?: string | null;
  seo_meta_desc_pt?: string | null;
  /** Alternative texts of the pictures. In a revision they are a JSON text. */
  alt_texts?: AltTexts | null;
} & WithMedia;

/** Alternative texts by the URL of the picture and by language. */
export type AltTexts = Record<string, Partial<Record<Language, string>>>;

/** A row of the table reviews. */
export type Review = {
  id: string;
  client_name: string;
  location: string | null;
  message: string;
  image_url: string | null;
  is_active: boolean;
  display_order: number | null;
  created_at: string;
  updated_at?: string | null;
  message_pt?: string | null;
  /** Whether a client wrote the review about a finished commission. Rows of old revisions lack this column. */
  from_commission?: boolean;
} & WithMedia;

/** A cover: a row of the table cover_images. */
export type CoverImage = {
  id: string;
  image_url: string;
  title: string | null;
  description: string | null;
  /** "video" or "image"; any other value is treated as image. */
  media_type: string;
  video_thumbnail_url: string | null;
  is_active: boolean;
  display_order: number | null;
  updated_at?: string | null;
  /** The times between which visitors see the cover; null sets no limit. Rows of old revisions lack both. */
  visible_from?: string | null;
  visible_until?: string | null;
  /** Whether these times have come. A row has them only if the query selects them by name. */
  has_begun?: boolean;
  has_ended?: boolean;
  title_pt?: string | null;
  description_pt?: string | null;
  alt_en?: string | null;
  alt_pt?: string | null;
} & WithMedia;

/** A series of works. */
export type Series = {
  id: string;
  /** Its name in URLs: lower-case words and digits, with hyphens between them. */
  slug: string;
  title: string;
  title_pt: string | null;
  text: string | null;
  text_pt: string | null;
  /** The work whose picture stands for the series; null for its first work. */
  cover_id: string | null;
  position: string;
  is_published: boolean;
  created_at: string;
  /** The types of its published works, maintained by the server. */
  types: ArtworkType[];
  /** The picture of its cover, maintained by the server. */
  image_url: string | null;
  updated_at?: string | null;
} & WithMedia;

/** A work in a series. */
export type SeriesWork = {
  id: string;
  series_id: string;
  product_id: string;
  position: string;
  created_at: string;
  /** The type of the work, and whether the work and the pair are visible. The server maintains all three. */
  artwork_type: ArtworkType | null;
  is_published: boolean;
  is_visible: boolean;
};

/** A message: a row of the table contact_submissions. */
export type ContactSubmission = {
  id: string;
  name: string;
  email: string;
  message: string;
  reason: ContactReason;
  status: ContactStatus;
  created_at: string;
  /** The id of the work that the visitor asked about, which may be deleted; only queries that name the column have it. */
  artwork_id?: string | null;
  // Only queries that name these columns have them, too.
  /** The language of the form; null for messages of earlier versions. */
  language?: "en" | "pt" | null;
  state?: ConversationState;
  /** Who wrote the last reply; null for none. */
  last_author?: "visitor" | "owner" | null;
  /** How the last reply begins. */
  last_text?: string | null;
  last_at?: string | null;
};

/** A text that the owner inserts into replies, in the language of the message. */
export type SavedReply = {
  id: string;
  title: string;
  text_en: string | null;
  text_pt: string | null;
  position: string;
  created_at: string;
};

/** A text in the conversation about a message. */
export type ContactReply = {
  id: string;
  message_id: string;
  author: "visitor" | "owner";
  /**
   * What the text is: progress is an owner's note on the work, offer the text of one, answer a visitor's answer to one,
   * review_request an owner's request for a review, review says that the client has written one.
   */
  kind: "reply" | "progress" | "offer" | "answer" | "review_request" | "review";
  text: string;
  created_at: string;
  /** The state of the mail with an owner's reply; "none" if it is not mailed. */
  delivery: "none" | "queued" | "sent" | "failed";
  delivery_at: string | null;
  delivery_error: string | null;
};

export type CommissionStage =
  "enquiry" | "offer" | "accepted" | "in_progress" | "finished" | "declined";

/** The stage of the commission of a message. Without a row, nothing has been decided about it. */
type Commission = {
  message_id: string;
  stage: CommissionStage;
  stage_at: string;
  /** YYYY-MM-DD */
  promised_on: string | null;
};

/** An offer as the server's function returns it. Days are YYYY-MM-DD, or "" for none. */
export type CommissionOffer = {
  id: string;
  text: string;
  price: string;
  deposit: string;
  promised_on: string;
  expires_on: string;
  /** The terms as they were when the offer was made. */
  terms: string;
  created_at: string;
  state: "open" | "expired" | "withdrawn" | "accepted" | "declined";
  answered_at: string | null;
  answered_name: string;
};

/** The commission of a message as the server's function returns it. */
export type CommissionState = {
  stage: CommissionStage;
  /** Null while nothing has been decided. */
  stage_at: string | null;
  promised_on: string;
  /** The stages to which it can be moved. */
  next: CommissionStage[];
  /** The newest first. */
  offers: CommissionOffer[];
  /** The terms of an offer that is made now. */
  terms: string;
  /** The place on the waiting list; 0 if it is not on it. */
  place: number;
  /** How many commissions the artist works on at a time; 0 for no limit. */
  slots: number;
  /** How many of these slots are taken by commissions. */
  taken: number;
};

/** A commission on the board. */
export type BoardCard = {
  message_id: string;
  /** The visitor's name. */
  name: string;
  artwork_id: string | null;
  /** The price text of the offer that was accepted, else of the newest one; "" for none. */
  price: string;
  /** YYYY-MM-DD; "" for none. */
  promised_on: string;
  unread: boolean;
  created_at: string;
};

/** A stage with its commissions. `total` may be more than there are cards. */
export type BoardColumn = {
  stage: CommissionStage;
  total: number;
  /** The stages to which its commissions can be moved. */
  next: CommissionStage[];
  cards: BoardCard[];
};

/** The calendar of the owner's account. `url` is "" if only the calendar program knows it. */
export type CalendarFeed = { url: string; language: Language; created_at: string };

/** The review that was requested from a client: a row of the table commission_reviews. */
type ClientReviewRow = {
  message_id: string;
  state: Exclude<ClientReview["state"], "">;
  written_at: string | null;
};

/** The review that was requested from a client about a finished commission, as the server's function describes it. */
export type ClientReview = {
  /** "": it was never requested. waiting: it waits for approval. withdrawn: the owner has taken the request back. */
  state: "" | "asked" | "waiting" | "approved" | "declined" | "withdrawn";
  can_ask: boolean;
  /** When it can be requested again, if that is too soon now. */
  ask_again_at: string | null;
  asked_at: string | null;
  /** The texts are "" while nothing is written, and after the approval. */
  name: string;
  place: string;
  text: string;
  picture: ConversationPicture | null;
  written_at: string | null;
  decided_at: string | null;
  /** The row of reviews that was made of it. */
  review_id: string | null;
};

/** A picture of a reply. `name` is that of the object in the private bucket conversation-pictures. */
export type ConversationPicture = {
  id: string;
  reply_id: string;
  position: number;
  name: string;
  width: number;
  height: number;
  bytes: number;
};

/** How a message can be replied to, and the private link at which its visitor follows it. */
export type Conversation = {
  /** Whether replies are mailed. */
  mail: boolean;
  /** Whether the owner lets visitors follow their messages. */
  links: boolean;
  /** The language of the message. */
  language: "en" | "pt";
  /** null if there is none. The URL is "" if only the visitor knows it. */
  link: { url: string; created_at: string; expires_at: string } | null;
  /** The pictures of all replies. */
  pictures: ConversationPicture[];
};

/** A quarantined message, kept for 30 days (docs/product.md, rule 13). */
export type QuarantinedMessage = {
  id: string;
  name: string;
  email: string;
  message: string;
  /** "field": the honeypot field was filled in. "flood": too many messages came within an hour. */
  cause: "field" | "flood";
  /** The content of the honeypot field; empty for a flood. */
  filled: string;
  created_at: string;
  expires_at: string;
};

/** A notice about a message and the state of its delivery. The channel "plan" has not determined its recipients yet. */
export type MessageNotice = {
  message_id: string;
  channel: "plan" | "mail" | "webhook" | "thanks" | "copy";
  recipient: string;
  state: "waiting" | "retrying" | "sent" | "failed";
  error?: string;
  queued_at: string;
};

type UserRole = { user_id: string; role: string };

/** The settings at /admin/settings. Visitors get only `site`. */
export type SiteSettings = {
  site: SiteTexts;
  /** Email addresses that get notices of new messages. */
  noticeEmail: string[];
  /** The URL that the server calls for each new message; "" for none. */
  noticeWebhook: string;
  /** The language of mails to the owner; "" for the language of each account. */
  noticeLanguage: "en" | "pt" | "";
  /** Whether a visitor who sends a message gets a thank-you mail. */
  thanksEnabled: boolean;
};
/** The state of the first-run guide; "" until it is finished or dismissed. */
export type GuideState = "" | "done" | "dismissed";

/**
 * What get_site_settings and save_site_settings return: the settings, their version, and the state of the first-run guide.
 */
export type SettingsResponse = {
  /** The version of the settings. A save sends the version of its base, so that the server can detect a conflict. */
  version: string;
  settings: SiteSettings;
  /**
   * The names of settings that still have the seed's value, such as "site.texts.en.about.title", and "works" while all
   * works are those of the demo.
   */
  seed: string[];
  guide: GuideState;
  /** The public settings as pages have them. */
  page: SiteTexts;
  /** What can be measured of the response time. Missing in drafts of earlier versions. */
  response?: MeasuredResponse;
};

/** How many answers count for the measured response time, and what visitors read of it: "" if they are too few. */
export type MeasuredResponse = { answers: number; en: string; pt: string };

/** A revision: what a row or a setting was before it was changed or deleted. */
export type Revision<Before = unknown> = {
  id: number;
  /** The id of the row; of a setting its key. */
  row_id: string;
  action: "update" | "delete";
  /** Email address of the account that made the change; null for a program and for deleted accounts. */
  actor: string | null;
  changed_at: string;
  row_before: Before;
  /** The URLs in `row_before` whose files have been replaced under the same name since. */
  replaced_files: string[];
};

/** The kinds of activity by which the list can be filtered. */
export type ActivityKind = "sign_in" | "refused" | "change" | "export" | "key";

/** An entry of the activity, as `rpc/get_activity` returns it: somebody has signed in, changed or exported something. */
export type ActivityEntry = {
  id: string;
  at: string;
  kind: ActivityKind;
  /** An action of the audit log, "insert", "update" or "delete", or what was exported. */
  action: string;
  /** Who did it: an account, a deleted account, the service key, a command, a program, a visitor, or somebody unknown. */
  by: "account" | "deleted" | "key" | "command" | "program" | "nobody" | "visitor";
  /** Email address or number of the account. */
  account?: string;
  /** The account that was changed, if it is another one. */
  subject?: string;
  table?: string;
  /** Only for rows that still exist. */
  row_id?: string;
  /** The name of the row, the key of a setting, a role, or which part of an account was changed. */
  title?: string;
  /** The series to which a work was added, or from which it was removed; with its id if it still exists. */
  series?: { id?: string; title: string };
  /** How many messages were deleted, or the generation of a key. */
  number?: number;
  /** "password", a provider, or another way to sign in. */
  method?: string;
  ip?: string;
  device?: Device;
};

/** What the User-Agent of a program names: browser and system, or the whole header. */
export type Device = { browser?: string; system?: string; program?: string };
/** What is wrong with the site; the server's names (internal/health). */
export type Problem = {
  code:
    | "backup_off"
    | "backup_failing"
    | "backup_stale"
    | "proof_failed"
    | "proof_incomplete"
    | "proof_stale"
    | "disk_low"
    | "mail_failing"
    | "mail_waiting"
    | "certificate_ending"
    | "certificate_missing";
  since: string | null;
  /** The message of a program or another server, or a domain; "" if there is none. */
  cause: string;
};

/**
 * The health of the site. `proved` means that the server has seen the item work; the mere absence of failures is not
 * enough.
 */
export type SiteHealth = {
  checked_at: string;
  backup: {
    proved: boolean;
    /** The folder or bucket of the backups; "" while they are off. */
    destination: string;
    /** Whether backups are on the same disk as the data, inside the data folder. */
    same_disk: boolean;
    last_at: string | null;
    proof_at: string | null;
    proven_restore_point: string | null;
    /** How many files are not in the backup yet. */
    waiting_files: number;
    /** How many files the last restore test has omitted because they were not in the backup yet. */
    unproven_files: number;
  };
  /** Sizes in bytes; a total of 0 means that it could not be measured. */
  disk: { proved: boolean; level: "enough" | "low" | "full"; free: number; total: number };
  mail: {
    proved: boolean;
    /** Whether a mail server is configured. */
    server: boolean;
    delivered_at: string | null;
    waiting: number;
    /** How many of the waiting mails have failed at least once. */
    retried: number;
    /** How many mails have failed permanently within 30 days. */
    failed: number;
  };
  /** Null if another program serves HTTPS. */
  certificate: { proved: boolean; domain: string; ends_at: string | null } | null;
  version: string;
  /** What the operator's release file says; null if none is set. */
  release: {
    /** The newest release, if it is newer than this program. `notes` is an https URL, or "". */
    newer: { version: string; date: string; notes: string } | null;
    read_at: string | null;
    /** Since when the file cannot be read. */
    failing_since: string | null;
  } | null;
  problems: Problem[];
};

/** How many rows have a text in only one language, and how many works with a picture have no alternative text. */
type MissingTexts = {
  works: { title: number; description: number; medium: number; seo: number; alt_texts: number };
  series: number;
  covers: number;
  reviews: number;
};

/** The arguments of move_work and similar functions: the rows move beside `target`, or to the first or last place. */
export type MoveArgs =
  | { ids: string[]; place: "before" | "after"; target: string }
  | { ids: string[]; place: "first" | "last"; target: null };

type Table<Row> = { Row: Row; Insert: Partial<Row>; Update: Partial<Row>; Relationships: [] };

/** The types of the rows by the names of the tables. */
export type Tables = {
  products: Table<Product>;
  reviews: Table<Review>;
  cover_images: Table<CoverImage>;
  series: Table<Series>;
  series_works: Table<SeriesWork>;
  contact_submissions: Table<ContactSubmission>;
  contact_replies: Table<ContactReply>;
  commissions: Table<Commission>;
  commission_reviews: Table<ClientReviewRow>;
  saved_replies: Table<SavedReply>;
  user_roles: Table<UserRole>;
};

/** The database as supabase-js's query builder is typed. */
export type Database = {
  public: {
    Tables: Tables;
    Views: Record<string, never>;
    Functions: {
      get_user_role: { Args: { user_id: string }; Returns: string | null };
      get_site_settings: { Args: Record<string, never>; Returns: SettingsResponse };
      save_site_settings: {
        Args: { version: string; settings: object } | { guide: GuideState };
        Returns: SettingsResponse;
      };
      get_missing_texts: { Args: Record<string, never>; Returns: MissingTexts };
      move_work: { Args: MoveArgs; Returns: undefined };
      move_saved_reply: { Args: MoveArgs; Returns: undefined };
      move_series: { Args: MoveArgs; Returns: undefined };
      move_series_work: { Args: MoveArgs; Returns: undefined };
      reorder_covers: { Args: { ids: string[] }; Returns: undefined };
      reorder_reviews: { Args: { ids: string[] }; Returns: undefined };
      get_site_health: { Args: Record<string, never>; Returns: SiteHealth };
      get_history: { Args: { table: string; id?: string; before?: number }; Returns: Revision[] };
      get_deleted: { Args: { table: string; before?: number }; Returns: Revision[] };
      restore_files: { Args: { urls: string[]; at?: string }; Returns: { missing: string[] } };
      get_activity: {
        Args: { kind?: ActivityKind; after?: string };
        Returns: { entries: ActivityEntry[]; next: string };
      };
      set_media_focus: { Args: { address: string; x: number; y: number }; Returns: undefined };
    };
  };
};
