package policy

import (
	"slices"
	"testing"

	"atelie/internal/identity"
)

const (
	me      = "11111111-1111-4111-8111-111111111111"
	another = "22222222-2222-4222-8222-222222222222"
)

// callers are the callers of the matrix of rights, and three more: nobody and unknown must never be allowed anything, and anonymous
// admin only what an anonymous caller may do.
var callers = map[string]identity.Caller{
	"anonymous": {Role: identity.Anon},
	"user":      {Role: identity.Authenticated, UserID: me},
	"admin":     {Role: identity.Authenticated, UserID: me, Admin: true},
	"service":   {Role: identity.Service},
	"nobody":    {},
	"unknown":   {Role: "postgres", UserID: me, Admin: true},
	// Admin has an effect only with the role Authenticated.
	"anonymous admin": {Role: identity.Anon, Admin: true},
}

var (
	own    = Grant{Allowed: true, Rows: Rows{{Column: "user_id", Value: me}}}
	status = Grant{Allowed: true, Columns: []string{"status"}}
)

// table is the expected matrix of rights by table, action and caller. Combinations that are not listed must be forbidden.
var table = map[string]map[Action]map[string]Grant{
	"products": {
		Select: {"anonymous": publishedRows, "anonymous admin": publishedRows, "user": publishedRows, "admin": allRows, "service": allRows},
		Insert: {"admin": allRows, "service": allRows},
		Update: {"admin": allRows, "service": allRows},
		Delete: {"admin": allRows, "service": allRows},
	},
	"reviews": {
		Select: {"anonymous": activeRows, "anonymous admin": activeRows, "user": activeRows, "admin": allRows, "service": allRows},
		Insert: {"admin": allRows, "service": allRows},
		Update: {"admin": allRows, "service": allRows},
		Delete: {"admin": allRows, "service": allRows},
	},
	"cover_images": {
		Select: {"anonymous": shownCovers, "anonymous admin": shownCovers, "user": shownCovers, "admin": allRows, "service": allRows},
		Insert: {"admin": allRows, "service": allRows},
		Update: {"admin": allRows, "service": allRows},
		Delete: {"admin": allRows, "service": allRows},
	},
	"series": {
		Select: {"anonymous": openSeries, "anonymous admin": openSeries, "user": openSeries, "admin": allRows, "service": allRows},
		Insert: {"admin": allRows, "service": allRows},
		Update: {"admin": allRows, "service": allRows},
		Delete: {"admin": allRows, "service": allRows},
	},
	"series_works": {
		Select: {"anonymous": visiblePairs, "anonymous admin": visiblePairs, "user": visiblePairs, "admin": allRows, "service": allRows},
		Insert: {"admin": allRows, "service": allRows},
		Update: {"admin": allRows, "service": allRows},
		Delete: {"admin": allRows, "service": allRows},
	},
	"contact_submissions": {
		Select: {"admin": allRows, "service": allRows},
		Insert: {"service": allRows},
		Update: {"admin": status, "service": allRows},
		Delete: {"admin": allRows, "service": allRows},
	},
	"contact_replies": {
		Select: {"admin": allRows, "service": allRows},
		Insert: {"service": allRows},
		Update: {"service": allRows},
		Delete: {"service": allRows},
	},
	"commissions": {
		Select: {"admin": allRows, "service": allRows},
		Insert: {"service": allRows},
		Update: {"service": allRows},
		Delete: {"service": allRows},
	},
	"commission_offers": {
		Select: {"admin": allRows, "service": allRows},
		Insert: {"service": allRows},
		Update: {"service": allRows},
		Delete: {"service": allRows},
	},
	"commission_reviews": {
		Select: {"admin": allRows, "service": allRows},
		Insert: {"service": allRows},
		Update: {"service": allRows},
		Delete: {"service": allRows},
	},
	"saved_replies": {
		Select: {"admin": allRows, "service": allRows},
		Insert: {"admin": allRows, "service": allRows},
		Update: {"admin": allRows, "service": allRows},
		Delete: {"admin": allRows, "service": allRows},
	},
	"user_roles": {
		Select: {"user": own, "admin": own, "service": allRows},
		Insert: {"service": allRows},
		Update: {"service": allRows},
		Delete: {"service": allRows},
	},
	"auth_users":         {Select: {"service": allRows}, Insert: {"service": allRows}, Update: {"service": allRows}, Delete: {"service": allRows}},
	"site_settings":      {Select: {"service": allRows}, Insert: {"service": allRows}, Update: {"service": allRows}, Delete: {"service": allRows}},
	"contact_links":      {Select: {"service": allRows}, Insert: {"service": allRows}, Update: {"service": allRows}, Delete: {"service": allRows}},
	"commission_terms":   {Select: {"service": allRows}, Insert: {"service": allRows}, Update: {"service": allRows}, Delete: {"service": allRows}},
	"calendar_feeds":     {Select: {"service": allRows}, Insert: {"service": allRows}, Update: {"service": allRows}, Delete: {"service": allRows}},
	"contact_quarantine": {Select: {"service": allRows}, Insert: {"service": allRows}, Update: {"service": allRows}, Delete: {"service": allRows}},
	"contact_pictures":   {Select: {"service": allRows}, Insert: {"service": allRows}, Update: {"service": allRows}, Delete: {"service": allRows}},
}

func TestTable(t *testing.T) {
	for name, actions := range table {
		for _, action := range []Action{Select, Insert, Update, Delete} {
			for who, caller := range callers {
				want := actions[action][who]
				got := Table(caller, name, action)
				if got.Allowed != want.Allowed || !slices.Equal(got.Rows, want.Rows) || !slices.Equal(got.Columns, want.Columns) || !slices.Equal(got.Hidden, want.Hidden) {
					t.Errorf("%s of %s for %s: got %+v, want %+v", action, name, who, got, want)
				}
			}
		}
	}
}

func TestUserRole(t *testing.T) {
	for who, want := range map[string][2]bool{ // for the caller's own account, for another one
		"anonymous": {false, false}, "anonymous admin": {false, false}, "user": {true, false}, "admin": {true, true}, "service": {true, true},
		"nobody": {false, false}, "unknown": {false, false},
	} {
		if got := [2]bool{UserRole(callers[who], me), UserRole(callers[who], another)}; got != want {
			t.Errorf("%s: got %v, want %v", who, got, want)
		}
	}
	if UserRole(identity.Caller{Role: identity.Authenticated}, "") {
		t.Error("a caller without an id is nobody's equal")
	}
}

func TestReorder(t *testing.T) {
	for who, caller := range callers {
		want := who == "admin" || who == "service"
		if got := Table(caller, "reviews", Update).Allowed; got != want {
			t.Errorf("reviews, %s: got %v", who, got)
		}
		if got := Table(caller, "products", Update).Allowed; got != want {
			t.Errorf("works, %s: got %v", who, got)
		}
		for _, table := range []string{"series", "series_works"} {
			if got := Table(caller, table, Update).Allowed; got != want {
				t.Errorf("%s, %s: got %v", table, who, got)
			}
		}
		if got := Table(caller, "saved_replies", Update).Allowed; got != want {
			t.Errorf("saved replies, %s: got %v", who, got)
		}
		if got := Table(caller, "cover_images", Update).Allowed; got != want {
			t.Errorf("covers, %s: got %v", who, got)
		}
	}
}

func TestMedia(t *testing.T) {
	for who, caller := range callers {
		want := who == "admin" || who == "service"
		if MediaFocus(caller) != want || MediaDetails(caller) != want {
			t.Errorf("%s: focus %t, details %t", who, MediaFocus(caller), MediaDetails(caller))
		}
	}
}

// Proves A-set-secret.
func TestSiteSettings(t *testing.T) {
	for who, caller := range callers {
		if got, want := SiteSettings(caller), who == "admin" || who == "service"; got != want {
			t.Errorf("%s: got %v", who, got)
		}
	}
}

// Proves T-rpc-missing.
func TestMissingTexts(t *testing.T) {
	for who, caller := range callers {
		if got, want := MissingTexts(caller), who == "admin" || who == "service"; got != want {
			t.Errorf("%s: got %v", who, got)
		}
	}
}

// Proves A-history-who.
func TestHistory(t *testing.T) {
	for who, caller := range callers {
		if got, want := History(caller), who == "admin" || who == "service"; got != want {
			t.Errorf("%s: got %v", who, got)
		}
	}
}

// Proves A-activity-who.
func TestActivity(t *testing.T) {
	for who, caller := range callers {
		if got, want := Activity(caller), who == "admin" || who == "service"; got != want {
			t.Errorf("%s: got %v", who, got)
		}
	}
}

// Proves A-health-who.
func TestSiteHealth(t *testing.T) {
	for who, caller := range callers {
		if got, want := SiteHealth(caller), who == "admin" || who == "service"; got != want {
			t.Errorf("%s: got %v", who, got)
		}
	}
}

// Proves E-picture-who.
func TestObject(t *testing.T) {
	for _, bucket := range append(slices.Clone(Buckets), ConversationBucket, "secrets", "") {
		known := slices.Contains(Buckets, bucket)
		for _, action := range []FileAction{FileRead, FileList, FileWrite, FileSign} {
			for who, caller := range callers {
				var want bool
				switch who {
				case "service":
					want = true
				case "admin":
					want = known || bucket == ConversationBucket && (action == FileRead || action == FileList)
				case "anonymous", "anonymous admin", "user":
					want = known && (action == FileRead || action == FileSign)
				}
				if got := Object(caller, bucket, action); got != want {
					t.Errorf("%s in %q for %s: got %v, want %v", action, bucket, who, got, want)
				}
			}
		}
	}
}

func TestBucket(t *testing.T) {
	for who, caller := range callers {
		isService, known := who == "service", who != "nobody" && who != "unknown"
		for _, c := range []struct {
			bucket string
			public bool
			want   bool
		}{{"product-images", true, known}, {"press", true, known}, {"press", false, isService}, {ConversationBucket, false, isService || who == "admin"}} {
			if got := Bucket(caller, c.bucket, c.public); got != c.want {
				t.Errorf("%s, %+v: got %v", who, c, got)
			}
		}
		if got := PrivateBuckets(caller); got != isService {
			t.Errorf("%s: all buckets: got %v", who, got)
		}
	}
}

func TestManageBuckets(t *testing.T) {
	for who, caller := range callers {
		if got := ManageBuckets(caller); got != (who == "service") {
			t.Errorf("%s: got %v", who, got)
		}
	}
}

// Proves FN-admin-who.
func TestFunction(t *testing.T) {
	for who, caller := range callers {
		want := who != "nobody" && who != "unknown"
		if got := Function(caller, "submit-contact"); got != want {
			t.Errorf("submit-contact for %s: got %v, want %v", who, got, want)
		}
		for _, name := range []string{"contact-quarantine", "contact-notices", "contact-reply", "commission", "commission-review", "commission-board", "calendar-feed", "contact-export", "address-data", "mail-test"} {
			if got, want := Function(caller, name), who == "admin" || who == "service"; got != want {
				t.Errorf("%s for %s: got %v, want %v", name, who, got, want)
			}
		}
		if Function(caller, "drop-everything") {
			t.Errorf("an unknown function is open for %s", who)
		}
	}
}

func TestChannelsAreForAdministratorsAndTheServiceKey(t *testing.T) {
	for want, callers := range map[bool][]identity.Caller{
		true:  {{Role: identity.Service}, {Role: identity.Authenticated, UserID: "a", Admin: true}},
		false: {{}, {Role: identity.Anon}, {Role: identity.Anon, Admin: true}, {Role: identity.Authenticated, UserID: "a"}, {Role: "postgres", Admin: true}},
	} {
		for _, c := range callers {
			if Channel(c) != want {
				t.Errorf("%+v: %v", c, !want)
			}
		}
	}
}
