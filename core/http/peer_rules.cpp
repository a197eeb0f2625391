// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/http/peer_rules.hpp"

#include "fdbpack/base/text.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace fdbpack::http {
namespace {

constexpr std::string_view kAltName = "subjectAltName";
constexpr std::array<std::string_view, 9> kFields{"CN", "C",   "L",  "ST",    "O",
                                                  "OU", "UID", "DC", kAltName};

int hex_value(char c) {
  if (text::is_digit(c)) return c - '0';
  const char low = text::lower(c);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

// Reads the rules from left to right; `at_` is the first character not yet read.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::vector<PeerAlternative>> run() {
    std::vector<PeerAlternative> result;
    for (;;) {
      FDBPACK_TRY(PeerAlternative one, alternative());
      result.push_back(std::move(one));
      if (at_ == text_.size()) return result;
      ++at_;  // the separator
    }
  }

 private:
  [[nodiscard]] bool is_end_of_alternative() const {
    return at_ == text_.size() || text_[at_] == '|' || text_[at_] == ';';
  }

  [[nodiscard]] tl::unexpected<Error> refuse(std::size_t place, const std::string& why) const {
    return fail(ErrorCode::invalid_argument,
                "peer rules, character " + std::to_string(place + 1) + ": " + why);
  }

  Result<PeerAlternative> alternative() {
    PeerAlternative result;
    // An empty alternative would welcome everybody by a slip of the pen, unless it is all there is.
    if (is_end_of_alternative() && !text_.empty()) return refuse(at_, "a rule is missing");
    while (!is_end_of_alternative()) {
      FDBPACK_TRY_VOID(term(result));
      if (is_end_of_alternative()) break;
      ++at_;  // the comma
      if (is_end_of_alternative()) return refuse(at_, "a rule is missing after the comma");
    }
    return result;
  }

  Status term(PeerAlternative& into) {
    const std::size_t begin = at_;
    const std::size_t equals = text_.find_first_of("=,|;", at_);
    if (equals == text_.npos || text_[equals] != '=') {
      return refuse(begin, "a rule is FIELD=value, FIELD>=prefix or FIELD<=suffix");
    }
    PeerTerm result;
    std::string_view key = text_.substr(begin, equals - begin);
    if (key.ends_with('>')) result.comparison = PeerTerm::Comparison::prefix;
    if (key.ends_with('<')) result.comparison = PeerTerm::Comparison::suffix;
    if (result.comparison != PeerTerm::Comparison::whole) key.remove_suffix(1);
    at_ = equals + 1;
    if (key.starts_with("Check.")) return check(into, key, begin, result.comparison);
    FDBPACK_TRY(result.scope, scope(key, begin));
    if (std::find(kFields.begin(), kFields.end(), key) == kFields.end()) {
      return refuse(begin, "there is no field '" + std::string(key) +
                               "'; there are CN, C, L, ST, O, OU, UID, DC and subjectAltName");
    }
    result.field = key;
    FDBPACK_TRY(result.value, value());
    if (result.field == kAltName && result.value.find(':') == std::string::npos) {
      return refuse(equals + 1, "a subjectAltName is TYPE:value, for example DNS:db.example");
    }
    into.terms.push_back(std::move(result));
    return {};
  }

  // Cuts the scope from the front of `key`.
  Result<PeerTerm::Scope> scope(std::string_view& key, std::size_t begin) const {
    const auto dot = key.find('.');
    if (dot == key.npos) return PeerTerm::Scope::subject;
    const std::string_view name = key.substr(0, dot);
    key.remove_prefix(dot + 1);
    if (name == "S" || name == "Subject") return PeerTerm::Scope::subject;
    if (name == "I" || name == "Issuer") return PeerTerm::Scope::issuer;
    if (name == "R" || name == "Root") return PeerTerm::Scope::root;
    return refuse(begin, "there is no scope '" + std::string(name) +
                             "'; there are S, Subject, I, Issuer, R, Root and Check");
  }

  Status check(PeerAlternative& into, std::string_view key, std::size_t begin,
               PeerTerm::Comparison comparison) {
    bool* flag = key == "Check.Valid"       ? &into.checks_chain
                 : key == "Check.Unexpired" ? &into.checks_time
                                            : nullptr;
    if (flag == nullptr || comparison != PeerTerm::Comparison::whole) {
      return refuse(begin, "there are Check.Valid=0|1 and Check.Unexpired=0|1");
    }
    const char digit = at_ < text_.size() ? text_[at_] : ' ';
    if (digit != '0' && digit != '1') return refuse(at_, "a check is 0 or 1");
    ++at_;
    if (!is_end_of_alternative() && text_[at_] != ',') return refuse(at_, "a check is 0 or 1");
    *flag = digit == '1';
    return {};
  }

  // Up to a separator that is not escaped.
  Result<std::string> value() {
    const std::size_t begin = at_;
    std::string result;
    std::size_t kept = 0;  // without the blanks that end it
    while (!is_end_of_alternative() && text_[at_] != ',') {
      const char c = text_[at_];
      if (c == '\\') {
        FDBPACK_TRY(const char escaped, escape());
        result += escaped;
        kept = result.size();
        continue;
      }
      const bool is_first_taboo = result.empty() && (c == '#' || c == ' ');
      if (is_first_taboo || c == '"' || c == '+' || c == '<' || c == '>' || c == '\0') {
        return refuse(at_, "this character needs a backslash in front");
      }
      result += c;
      if (c != ' ') kept = result.size();
      ++at_;
    }
    result.resize(kept);
    if (result.empty()) return refuse(begin, "a value is missing");
    return result;
  }

  Result<char> escape() {
    const std::size_t begin = at_++;
    if (at_ == text_.size()) return refuse(begin, "the backslash escapes nothing");
    constexpr std::string_view kSpecial = " \"#+,;<=>|\\";
    if (kSpecial.find(text_[at_]) != kSpecial.npos) return text_[at_++];
    const int high = hex_value(text_[at_]);
    const int low = at_ + 1 < text_.size() ? hex_value(text_[at_ + 1]) : -1;
    if (high < 0 || low < 0) {
      return refuse(begin, "a backslash needs a special character or two hexadecimal digits");
    }
    at_ += 2;
    return static_cast<char>(high * 16 + low);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool compares(std::string_view actual, std::string_view expected, PeerTerm::Comparison how) {
  switch (how) {
    case PeerTerm::Comparison::whole:
      return actual == expected;
    case PeerTerm::Comparison::prefix:
      return actual.starts_with(expected);
    case PeerTerm::Comparison::suffix:
      return actual.ends_with(expected);
  }
  return false;
}

bool holds(const PeerTerm& term, const CertificateFacts& certificate) {
  using Scope = PeerTerm::Scope;
  if (term.field == kAltName) {
    if (term.scope == Scope::root) return false;
    const auto& names =
        term.scope == Scope::issuer ? certificate.issuer_alt_names : certificate.subject_alt_names;
    const auto colon = term.value.find(':');
    const std::string type = term.value.substr(0, colon);
    const std::string expected = term.value.substr(colon + 1);
    return std::any_of(names.begin(), names.end(), [&](const auto& name) {
      return name.first == type && compares(name.second, expected, term.comparison);
    });
  }
  const NameAttributes& name = term.scope == Scope::subject  ? certificate.subject
                               : term.scope == Scope::issuer ? certificate.issuer
                                                             : certificate.root;
  const std::string* found = nullptr;
  for (const auto& [attribute, value] : name) {
    if (attribute != term.field) continue;
    if (found != nullptr) return false;
    found = &value;
  }
  return found != nullptr && compares(*found, term.value, term.comparison);
}

}  // namespace

Result<PeerRules> PeerRules::parse(std::string_view text) {
  PeerRules result;
  FDBPACK_TRY(result.alternatives_, Parser(text).run());
  return result;
}

bool PeerRules::matches(const CertificateFacts& certificate) const {
  return std::any_of(alternatives_.begin(), alternatives_.end(), [&](const auto& alternative) {
    if (alternative.checks_chain && !certificate.is_chain_valid) return false;
    if (alternative.checks_chain && alternative.checks_time && !certificate.is_unexpired) {
      return false;
    }
    return std::all_of(alternative.terms.begin(), alternative.terms.end(),
                       [&](const PeerTerm& term) { return holds(term, certificate); });
  });
}

bool PeerRules::accepts_unverified() const {
  return std::any_of(alternatives_.begin(), alternatives_.end(), [](const auto& alternative) {
    return !alternative.checks_chain || !alternative.checks_time;
  });
}

}  // namespace fdbpack::http
